// Trees by chance, with deaths, cancels, words, questions and servers that do wrong, and the replay of each
// from nothing but its bundle. Their clocks are not set while they run: that is not on record.
// DEPUTY_SIM_SEED=SEED tells how the tree of a seed comes out.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "app/replay.h"
#include "base/environment.h"
#include "chance_terms.h"
#include "store/session_view.h"
#include "support/priced_model.h"
#include "support/sim_world.h"

namespace deputy {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kModel = "priced/x";
constexpr std::uint64_t kLeave = 4;  // of what happens

class GrownTree {
 public:
  explicit GrownTree(std::uint64_t seed) : seed_(seed), chance_(seed, "a tree to replay") {
    put_files(world_);
  }

  const std::vector<Event>& grow() {
    const std::uint64_t most_deaths = chance_.below(4);
    bool has_ended = false;
    for (std::uint64_t life = 1; life < 20 && !has_ended; ++life) {
      const std::size_t before = world_.memory->journal.size();
      has_ended = live(life, life <= most_deaths);
      if (left_at_) tell_at_once(before);
    }
    return world_.memory->journal;
  }

 private:
  // One process. True where the tree has ended.
  bool live(std::uint64_t number, bool may_die) {
    Chance limits(seed_, "limits");
    Life::Options options{.seed = seed_ * 100 + number,
                          .limits = limits_by(limits),
                          .attendance = attendance_by(Chance(seed_, "who is there")),
                          .profiles = chance_profiles()};
    options.ends_in_order = true;
    options.has_web = true;
    if (may_die && chance_.one_in(2))
      options.crash = {.at_record = 1 + static_cast<int>(chance_.below(50)),
                       .committed = chance_.one_in(2),
                       .ends_commands = chance_.one_in(2)};
    options.model = [this](Loop& loop) {
      return std::make_unique<PricedModel>(std::make_unique<ActingModel>(loop, chance_play(seed_)), bank_,
                                           PricedModel::kPrice, /*tells_untaken=*/true);
    };
    Life life(world_, std::move(options));
    bank_.is_gone = [&life] { return life.crashed(); };
    life.loop().manual_clock().jump_wall(away_);
    life.processes().define(
        "bash",
        [this](const ProcessSpec&) {
          return ProcessResult{.exit_status = ++commands_ % 3, .output = "counted"};
        },
        50ms);
    for (const Event& event : world_.memory->journal) answer_later(life, event);
    life.runtime().subscribe(
        [this, &life](const Event& event, const EventOrigin&) { answer_later(life, event); });
    left_at_.reset();
    happen_to(life, may_die);

    const auto sessions = world_.sessions();
    const Result<Report> report = sessions.empty() ? life.start(brief(life))
                                  : is_terminal(sessions.front().state)
                                      ? life.say(sessions.front().id, {"and then?"})
                                      : life.resume(sessions.front().id);
    away_ = life.loop().clock().wall() - ManualClock().wall() + 1s * chance_.below(600);
    if (!report) {
      EXPECT_TRUE(life.crashed() || left_at_) << report.error().message;
      return false;
    }
    return !life.crashed() && !chance_.one_in(4);  // or the person has more to say
  }

  RootBrief brief(const Life& life) const {
    RootBrief root = life.brief("go");
    root.model = ModelName(std::string(kModel));
    Chance rules(seed_, "rules");
    root.rules = rules_by(rules);
    return root;
  }

  // What the person does, by chance.
  void happen_to(Life& life, bool may_die) {
    const std::uint64_t times = chance_.below(4);
    for (std::uint64_t i = 0; i < times; ++i) {
      const std::uint64_t kind = chance_.below(may_die ? kLeave + 1 : kLeave);
      const std::uint64_t which = chance_.below(1000);
      life.after_event(1 + static_cast<int>(chance_.below(120)),
                       [this, kind, which, &life](Runtime& runtime) {
                         if (kind == kLeave && !left_at_) left_at_ = life.loop().clock().wall();
                         happen(runtime, kind, which);
                       });
    }
  }
  // What rides along when it is left comes to the store when nothing is left to do in this world, which may
  // be hours later: a program that ends hands it on at once.
  void tell_at_once(std::size_t from) {
    constexpr Duration kEnding = 20s;
    auto& events = world_.memory->journal;
    for (std::size_t at = std::max<std::size_t>(from, 1); at < events.size(); ++at)
      if (events[at].at > *left_at_ + kEnding) events[at].at = events[at - 1].at;
    world_.memory->sessions.clear();
    for (const Event& event : events) apply_to_session(world_.memory->sessions[event.run.session], event);
  }
  void happen(Runtime& runtime, std::uint64_t kind, std::uint64_t which) {
    const auto sessions = world_.sessions();
    const SessionId one = sessions[which % sessions.size()].id;
    switch (kind) {
      case 0:
        return runtime.cancel(one, StopReason::user);
      case 1:
        return which % 3 == 0 ? runtime.cancel(StopReason::user) : void();
      case 2:
        return runtime.nudge(one, "look at b too");
      case 3:
        return runtime.send_to_background(one);
      default:
        return runtime.cancel(StopReason::shutdown);
    }
  }

  void answer_later(Life& life, const Event& event) {
    const auto* asked = std::get_if<QuestionAsked>(&event.fact);
    if (!asked || asked->question.kind == QuestionKind::to_parent) return;
    Chance chance(seed_, asked->question.id);
    const bool is_permission = asked->question.kind == QuestionKind::permission;
    const auto kind = !is_permission     ? AnswerKind::text
                      : chance.one_in(3) ? AnswerKind::refused
                                         : AnswerKind::approved;
    life.loop().timers().call_at(
        life.loop().clock().now() + (chance.one_in(5) ? 1h : 1ms * chance.below(5000)),
        [&life, kind, id = asked->question.id] { life.runtime().answer(id, {kind, "as you like"}); });
  }

  std::uint64_t seed_;
  Chance chance_;
  SimWorld world_;
  Bank bank_;
  int commands_ = 0;
  Duration away_{};
  std::optional<WallTime> left_at_;  // by the program that runs it
};

// As `deputy doctor --bundle` makes it, and read again.
Result<Bundle> bundle_of(const std::vector<Event>& journal) {
  Profiles profiles = Profiles::built_in();
  for (Profile& profile : chance_profiles()) profiles.add(std::move(profile));
  json::object about{{"state", "/home"}, {"agents", agents_json(profiles, journal)}};
  about["has_search"] = true;
  about["windows"] = json::object{{kModel, 200'000}};
  about["prices"] = json::object{{kModel, price_json(PricedModel::kPrice)}};
  return parse_bundle(bundle_text({std::move(about), journal}, {}));
}

struct Outcomes {
  int same = 0;
  int different = 0;
  std::map<std::string, int> beyond;  // replay, by why
  std::size_t events = 0;             // of those that are the same

  int all_beyond() const {
    int all = 0;
    for (const auto& [why, count] : beyond) all += count;
    return all;
  }
};

// What an error says is beyond a replay, of what may be: nothing else can be with trees that are told whole.
std::string why_beyond(const Error& error) {
  constexpr std::string_view kBefore = "the tree cannot be replayed: ";
  constexpr std::array<std::string_view, 1> kKnown{"its program ended in the middle, and commands were lost"};
  for (const std::string_view why : kKnown)
    if (error.message.starts_with(fmt::format("{}{};", kBefore, why))) return std::string(why);
  return "";
}

void replay_tree(std::uint64_t seed, Outcomes& outcomes, bool is_told) {
  GrownTree tree(seed);
  const auto& journal = tree.grow();
  if (journal.empty()) return;  // its process died before anything was on record
  const auto bundle = bundle_of(journal);
  ASSERT_TRUE(bundle) << bundle.error().message;
  const auto replayed = replay(*bundle);
  if (!replayed) {
    const std::string why = why_beyond(replayed.error());
    ASSERT_FALSE(why.empty()) << "seed " << seed << ": " << replayed.error().message;
    outcomes.beyond[why] += 1;
    if (is_told) fmt::print("{}\n", replayed.error().message);
    return;
  }
  (replayed->differences.empty() ? outcomes.same : outcomes.different) += 1;
  outcomes.events += replayed->differences.empty() ? replayed->events : 0;
  if (is_told) fmt::print("{}\n", fmt::join(replayed->differences, "\n"));
}

// Not every one: what meets in one moment may meet in more orders than a replay tries.
TEST(AnyReplaySimulation, GivesNearlyEveryTreeAgain) {
  constexpr std::uint64_t kSeeds = 20;
  constexpr std::uint64_t kMostSeeds = 300;
  const auto only = SystemEnvironment().get("DEPUTY_SIM_SEED");
  const std::uint64_t first = only ? std::stoull(*only) : 1;
  const std::uint64_t last = only ? first : std::min(simulation_seeds(kSeeds), kMostSeeds);
  Outcomes outcomes;
  for (std::uint64_t seed = first; seed <= last && !HasFailure(); ++seed)
    replay_tree(seed, outcomes, only.has_value());
  fmt::print("figures: {} trees replay the same, with {} events; {} go another way\n", outcomes.same,
             outcomes.events, outcomes.different);
  for (const auto& [why, count] : outcomes.beyond) fmt::print("figures: {}: {}\n", count, why);
  if (only) return;
  EXPECT_GT(outcomes.same, 0);
  EXPECT_LE(outcomes.different * 10, outcomes.same);
  EXPECT_LE(outcomes.all_beyond() * 20, outcomes.same);
}

}  // namespace
}  // namespace deputy
