#include "any_tree.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "chance_terms.h"

namespace deputy {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kMostLives = 20;

}  // namespace

AnyTree::AnyTree(std::uint64_t seed)
    : seed_(seed),
      chance_(seed, "the world"),
      limits_(limits_by(chance_)),
      rules_(rules_by(chance_)),
      attendance_(attendance_by(Chance(seed, "who is there"))),
      machine_(seed, world_) {
  put_files(world_);
}

Figures AnyTree::grow() {
  const std::uint64_t most_deaths = chance_.below(4);
  std::uint64_t lives = 0;
  for (bool is_over = false; !is_over && lives < kMostLives && !testing::Test::HasFailure(); ++lives)
    is_over = live(lives < most_deaths);
  EXPECT_LT(lives, kMostLives) << "it does not come to an end";
  if (!testing::Test::HasFailure()) EXPECT_EQ(machine_.fault_after_next_start(), "");
  return figures();
}

Figures AnyTree::figures() {
  figures_[Figure::sessions] = world_.memory->sessions.size();
  figures_[Figure::events] = world_.memory->journal.size();
  for (const Event& event : world_.memory->journal) {
    const auto* compacted = std::get_if<Compacted>(&event.fact);
    figures_[Figure::compactions] += compacted && summary_in(compacted->reply) ? 1 : 0;
    figures_[Figure::retries] += is_spending(event.fact) ? 1 : 0;  // attempts that were paid for
  }
  figures_ += watcher_.figures();
  figures_ += machine_.figures();
  return figures_;
}

std::string AnyTree::journal() const {
  std::string text;
  for (const Event& event : world_.memory->journal)
    text += fmt::format("{} {} {} {}\n", event.run.session.value, to_iso8601(event.at), kind_of(event.fact),
                        json::serialize(fact_to_json(event.fact)));
  return text;
}

Life::Options AnyTree::options_of_life(bool may_die) {
  Life::Options options{.seed = seed_ * 100 + ++figures_[Figure::lives],
                        .limits = limits_,
                        .attendance = attendance_,
                        .profiles = chance_profiles()};
  if (may_die && chance_.one_in(2))
    options.crash = {.at_record = 1 + static_cast<int>(chance_.below(50)),
                     .committed = chance_.one_in(2),
                     .ends_commands = chance_.one_in(2)};
  options.model = [this](Loop& loop) {
    return std::make_unique<PricedModel>(std::make_unique<ActingModel>(loop, chance_play(seed_)), bank_,
                                         PricedModel::kPrice, /*tells_untaken=*/true);
  };
  return options;
}

// One process. True where the tree has ended.
bool AnyTree::live(bool may_die) {
  Life life(world_, options_of_life(may_die));
  begin(life, may_die);
  const Result<Report> report = run(life);
  away_ = life.loop().clock().wall() - ManualClock().wall() + 1s * chance_.below(600);
  figures_[Figure::deaths] += life.crashed() ? 1 : 0;
  if (!report) {
    EXPECT_TRUE(life.crashed() || is_left_) << report.error().message;
    // That of the play's own, where its end could not be recorded, is no fault.
    if (report.error().code == ErrorCode::internal)
      EXPECT_EQ(report.error().message, fmt::format("a bug in deputy: {}", kBugOfThePlay));
    return false;
  }
  if (life.crashed()) return false;
  watcher_.expect_over(life.runtime());
  EXPECT_EQ(machine_.fault_of_commands(), "");
  EXPECT_EQ(machine_.fault_of_files(life.runtime().store()), "");
  return !chance_.one_in(4);  // or the person has more to say
}

void AnyTree::begin(Life& life, bool may_die) {
  bank_.is_gone = [&life] { return life.crashed(); };
  machine_.begin_life(life);
  for (const Event& event : world_.memory->journal) answer_later(life, event);
  watcher_.begin_life();
  life.loop().manual_clock().jump_wall(away_);
  if (chance_.one_in(8)) jump(life, 1s * chance_.below(3600) - 30min);
  if (chance_.one_in(16)) machine_.disk_fails(life);
  is_look_due_ = false;
  life.runtime().subscribe([this, &life](const Event& event, const EventOrigin& origin) {
    watcher_.look(event, origin, life);
    EXPECT_EQ(machine_.fault_after(event), "");
    look_at_waits_later(life);
    answer_later(life, event);
  });
  happen_to(life, may_die);
}

Result<Report> AnyTree::run(Life& life) {
  const auto sessions = world_.sessions();
  if (sessions.empty()) return life.start(brief(life));
  const Session& root = sessions.front();
  return is_terminal(root.state) ? life.say(root.id, {"and then?"}) : life.resume(root.id);
}

RootBrief AnyTree::brief(const Life& life) const {
  RootBrief root = life.brief("go");
  root.model = ModelName("priced/x");
  root.rules = rules_;
  return root;
}

// What the person, the clock and the machine do, by chance.
void AnyTree::happen_to(Life& life, bool may_die) {
  is_left_ = false;
  const std::uint64_t times = chance_.below(5);
  for (std::uint64_t i = 0; i < times; ++i) {
    const std::uint64_t kind = chance_.below(may_die ? 9 : 8);
    const std::uint64_t which = chance_.below(1000);
    life.after_event(1 + static_cast<int>(chance_.below(120)),
                     [this, &life, kind, which](Runtime&) { happen(life, kind, which); });
  }
}

void AnyTree::happen(Life& life, std::uint64_t kind, std::uint64_t which) {
  const auto sessions = world_.sessions();
  const SessionId one = sessions[which % sessions.size()].id;
  Runtime& runtime = life.runtime();
  switch (kind) {
    case 0:
      figures_[Figure::cancels] += 1;
      return runtime.cancel(one, StopReason::user);
    case 1:
      if (which % 3 != 0) return;
      figures_[Figure::cancels] += 1;
      return runtime.cancel(StopReason::user);
    case 2:
      return runtime.nudge(one, "look at b too");
    case 3:
      return runtime.send_to_background(one);
    case 4:
      return jump(life, 1min * which);  // or the machine has slept
    case 5:
      return jump(life, which % 2 == 0 ? -4s * which : 4s * which);
    case 6:
      return machine_.disk_fails(life);
    case 7:
      return machine_.no_process_starts(life);
    default:
      is_left_ = true;
      return runtime.cancel(StopReason::shutdown);
  }
}

void AnyTree::jump(Life& life, Duration by) {
  figures_[Figure::jumps] += 1;
  watcher_.jumped(by, life.loop().clock().now());
  life.loop().manual_clock().jump_wall(by);
}

// Once for all that happens until then. Nothing of the play is due at such a moment: all that can move has
// moved.
void AnyTree::look_at_waits_later(Life& life) {
  constexpr Duration kLater = 997'003us;
  if (std::exchange(is_look_due_, true)) return;
  life.loop().timers().call_at(life.loop().clock().now() + kLater, [this, &life] {
    is_look_due_ = false;
    const auto root =
        std::ranges::find_if(world_.memory->sessions, [](const auto& each) { return !each.second.parent; });
    if (life.crashed() || is_left_ || is_terminal(root->second.state)) return;
    if (watcher_.look_at_waits(life)) look_at_waits_later(life);
  });
}

void AnyTree::answer_later(Life& life, const Event& event) {
  const auto* asked = std::get_if<QuestionAsked>(&event.fact);
  if (!asked || asked->question.kind == QuestionKind::to_parent) return;
  figures_[Figure::questions] += 1;
  Chance chance(seed_, asked->question.id);
  const bool is_permission = asked->question.kind == QuestionKind::permission;
  const auto kind = !is_permission     ? AnswerKind::text
                    : chance.one_in(3) ? AnswerKind::refused
                                       : AnswerKind::approved;
  life.loop().timers().call_at(
      life.loop().clock().now() + (chance.one_in(5) ? 1h : 1ms * chance.below(5000)),
      [&life, kind, id = asked->question.id] { life.runtime().answer(id, {kind, "as you like"}); });
}

}  // namespace deputy
