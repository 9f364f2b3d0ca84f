// Any tree, with anything happening to it: a seed decides what its agents do, what is allowed, whether its
// person is there, what they say and when, where its process dies and how the clock jumps. The seed of a
// failure repeats it, and prints its journal: DEPUTY_SIM_SEED=SEED.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sanitizer/common_interface_defs.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "base/environment.h"
#include "chance_play.h"
#include "watcher.h"

namespace deputy {
namespace {

using namespace std::chrono_literals;

TreeLimits limits_by(Chance& chance) {
  TreeLimits limits{.delegations = 2 + static_cast<int>(chance.below(10)),
                    .live_children = 1 + static_cast<int>(chance.below(4)),
                    .live_sessions = 1 + static_cast<int>(chance.below(5))};
  if (chance.one_in(4)) limits.depth = 1 + static_cast<int>(chance.below(3));
  if (chance.one_in(4)) limits.steps = 4 + static_cast<std::int64_t>(chance.below(30));
  if (chance.one_in(4)) limits.tokens = 20'000 + static_cast<std::int64_t>(chance.below(200'000));
  if (chance.one_in(4)) limits.cost_micros = 100'000 + static_cast<std::int64_t>(chance.below(1'000'000));
  if (chance.one_in(6)) limits.time = 1s * (1 + chance.below(300));
  return limits;
}

Attendance attendance_by(Chance chance) {
  if (!chance.one_in(4)) return Attendance::person;
  return chance.one_in(2) ? Attendance::approves_all : Attendance::nobody;
}

Rules rules_by(Chance& chance) {
  std::vector<Rule> rules{{Decision::allow, "task", ""}, {Decision::allow, "spawn_subagent", ""}};
  constexpr std::array kDecisions{Decision::allow, Decision::allow, Decision::ask, Decision::deny};
  for (const char* tool : {"Bash", "Write"})
    rules.push_back({kDecisions[chance.below(kDecisions.size())], tool, ""});
  return Rules(std::move(rules));
}

// What the seed came to, for figures that show that the simulation simulates.
struct Came {
  int lives = 0;
  int crashes = 0;
  int sessions = 0;
  int events = 0;
  int cancels = 0;
  int questions = 0;
  int compactions = 0;
  int retries = 0;  // attempts that were paid for
  int waits = 0;    // that were looked at when nothing moved
};

class AnyTree {
 public:
  explicit AnyTree(std::uint64_t seed)
      : seed_(seed),
        chance_(seed, "the world"),
        limits_(limits_by(chance_)),
        rules_(rules_by(chance_)),
        attendance_(attendance_by(Chance(seed, "who is there"))) {
    world_.script = R"({"v":1,"sessions":[{"replies":[{"text":"never asked"}]}]})";
    world_.write_file("a.txt", "one\n");
    std::string lines;
    for (int i = 0; i < 1900; ++i) lines += "one\n";
    world_.write_file(std::string(kLongFile), lines);
  }

  Came grow() {
    const std::uint64_t most_deaths = chance_.below(4);
    while (came_.lives < 20 && !testing::Test::HasFailure()) {
      const bool may_die = static_cast<std::uint64_t>(came_.lives) < most_deaths;
      if (live(may_die)) break;
    }
    EXPECT_LT(came_.lives, 20) << "it does not come to an end";
    came_.sessions = static_cast<int>(world_.memory->sessions.size());
    came_.events = static_cast<int>(world_.memory->journal.size());
    came_.compactions =
        static_cast<int>(std::ranges::count_if(world_.memory->journal, [](const Event& event) {
          const auto* compacted = std::get_if<Compacted>(&event.fact);
          return compacted && summary_in(compacted->reply);
        }));
    came_.retries = static_cast<int>(std::ranges::count_if(
        world_.memory->journal, [](const Event& event) { return is_spending(event.fact); }));
    came_.waits = watcher_.waits_seen();
    return came_;
  }
  std::string journal() const {
    std::string text;
    for (const Event& event : world_.memory->journal)
      text += fmt::format("{} {} {} {}\n", event.run.session.value, to_iso8601(event.at), kind_of(event.fact),
                          json::serialize(fact_to_json(event.fact)));
    return text;
  }

 private:
  // One process. True where the tree has ended.
  bool live(bool may_die) {
    came_.lives += 1;
    Life::Options options{.seed = seed_ * 100 + static_cast<std::uint64_t>(came_.lives),
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
    Life life(world_, std::move(options));
    bank_.is_gone = [&life] { return life.crashed(); };
    life.loop().manual_clock().jump_wall(away_);
    life.processes().define(
        "bash",
        [this](const ProcessSpec& spec) {
          effects_[spec.argv.back()] += 1;
          return ProcessResult{.exit_status = static_cast<int>(effects_.size() % 3), .output = "counted"};
        },
        50ms);
    for (const Event& event : world_.memory->journal) answer_later(life, event);
    watcher_.begin_life();
    is_look_due_ = false;
    life.runtime().subscribe([this, &life](const Event& event, const EventOrigin& origin) {
      watcher_.look(event, origin, life);
      look_at_waits_later(life);
      answer_later(life, event);
    });
    happen_to(life, may_die);

    const auto sessions = world_.sessions();
    Result<Report> report = sessions.empty() ? life.start(brief(life))
                            : is_terminal(sessions.front().state)
                                ? life.say(sessions.front().id, {"and then?"})
                                : life.resume(sessions.front().id);
    away_ = life.loop().clock().wall() - ManualClock().wall() + 1s * chance_.below(600);
    came_.crashes += life.crashed() ? 1 : 0;
    if (!report) {
      EXPECT_TRUE(life.crashed() || is_left_) << report.error().message;
      return false;
    }
    if (life.crashed()) return false;
    watcher_.expect_over(life.runtime(), effects_);
    return !chance_.one_in(4);  // or the person has more to say
  }

  RootBrief brief(const Life& life) const {
    RootBrief root = life.brief("go");
    root.model = ModelName("priced/x");
    root.rules = rules_;
    return root;
  }

  // What the person and the clock do, by chance.
  void happen_to(Life& life, bool may_die) {
    is_left_ = false;
    const std::uint64_t times = chance_.below(4);
    for (std::uint64_t i = 0; i < times; ++i) {
      const std::uint64_t kind = chance_.below(may_die ? 7 : 6);
      const std::uint64_t which = chance_.below(1000);
      life.after_event(1 + static_cast<int>(chance_.below(120)),
                       [this, &life, kind, which](Runtime& runtime) { happen(life, runtime, kind, which); });
    }
  }
  void happen(Life& life, Runtime& runtime, std::uint64_t kind, std::uint64_t which) {
    const auto sessions = world_.sessions();
    const SessionId one = sessions[which % sessions.size()].id;
    switch (kind) {
      case 0:
        came_.cancels += 1;
        return runtime.cancel(one, StopReason::user);
      case 1:
        if (which % 3 != 0) return;
        came_.cancels += 1;
        return runtime.cancel(StopReason::user);
      case 2:
        return runtime.nudge(one, "look at b too");
      case 3:
        return runtime.send_to_background(one);
      case 4:
        return life.loop().manual_clock().jump_wall(1min * which);
      case 5:
        watcher_.gain_time(1s * which);
        return life.loop().manual_clock().jump_wall(-1s * which);
      default:
        is_left_ = true;
        return runtime.cancel(StopReason::shutdown);
    }
  }

  // Once for all that happens until then. Nothing of the play is due at such a moment: all that can move has
  // moved.
  void look_at_waits_later(Life& life) {
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

  void answer_later(Life& life, const Event& event) {
    const auto* asked = std::get_if<QuestionAsked>(&event.fact);
    if (!asked || asked->question.kind == QuestionKind::to_parent) return;
    came_.questions += 1;
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
  TreeLimits limits_;
  Rules rules_;
  Attendance attendance_;
  SimWorld world_;
  Bank bank_;
  Watcher watcher_{world_, limits_, bank_};
  std::map<std::string, int> effects_;
  Duration away_{};
  bool is_left_ = false;
  bool is_look_due_ = false;
  Came came_;
};

// Said also where the process dies of a seed: by a sanitizer, an abort, or because it takes for ever.
volatile std::uint64_t growing = 0;
constexpr unsigned kMostSeconds = 120;  // of a seed: one takes a few milliseconds

void tell_seed() {
  char line[64];
  const int size = std::snprintf(line, sizeof line, "DEPUTY_SIM_SEED=%llu repeats it\n",
                                 static_cast<unsigned long long>(growing));
  (void)!::write(STDERR_FILENO, line, static_cast<std::size_t>(size));
}
void tell_seed_and_die(int signal) {
  tell_seed();
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}
void begin_seed(std::uint64_t seed) {
  [[maybe_unused]] static const bool is_set = [] {
    ::__sanitizer_set_death_callback(tell_seed);
    ::signal(SIGABRT, tell_seed_and_die);
    ::signal(SIGALRM, tell_seed_and_die);
    return true;
  }();
  growing = seed;
  ::alarm(kMostSeconds);
}

std::optional<std::uint64_t> only_seed() {
  const auto text = SystemEnvironment().get("DEPUTY_SIM_SEED");
  return text ? std::optional(std::stoull(*text)) : std::nullopt;
}

// Several of them are beside each other: one takes every kParts-th seed.
constexpr std::uint64_t kParts = 4;
class AnyTreeSimulation : public testing::TestWithParam<std::uint64_t> {};
INSTANTIATE_TEST_SUITE_P(Part, AnyTreeSimulation, testing::Range<std::uint64_t>(0, kParts));

TEST_P(AnyTreeSimulation, IsSoundAtEveryEventAndComesToItsEnd) {
  Came all;
  std::uint64_t trees = 0;
  const auto only = only_seed();
  const std::uint64_t last = only.value_or(simulation_seeds(400));
  for (std::uint64_t seed = only.value_or(1); seed <= last && !HasFailure(); ++seed) {
    if (seed % kParts != GetParam()) continue;
    SCOPED_TRACE(fmt::format("DEPUTY_SIM_SEED={} repeats it", seed));
    begin_seed(seed);
    AnyTree tree(seed);
    const Came came = tree.grow();
    trees += 1;
    all.lives += came.lives;
    all.crashes += came.crashes;
    all.sessions += came.sessions;
    all.events += came.events;
    all.cancels += came.cancels;
    all.questions += came.questions;
    all.compactions += came.compactions;
    all.retries += came.retries;
    all.waits += came.waits;
    if (HasFailure() && only) fmt::print("{}", tree.journal());
    if (seed % 100 == GetParam() && !HasFailure()) {
      AnyTree again(seed);
      again.grow();
      EXPECT_EQ(tree.journal(), again.journal()) << "a seed gives one run";
    }
  }
  ::alarm(0);
  constexpr std::uint64_t kManyTrees = 50;  // among so many one is compacted, and one paid for in vain
  if (trees >= kManyTrees) EXPECT_GT(all.compactions, 0);
  if (trees >= kManyTrees) EXPECT_GT(all.retries, 0);
  if (trees >= kManyTrees) EXPECT_GT(all.waits, 0);
  fmt::print(
      "figures: {} trees of {} sessions in {} lives, {} of them crashed; {} events, {} cancels, {} "
      "questions, {} compactions, {} attempts paid for in vain, {} waits looked at\n",
      trees, all.sessions, all.lives, all.crashes, all.events, all.cancels, all.questions, all.compactions,
      all.retries, all.waits);
}

}  // namespace
}  // namespace deputy
