// A real tree against a provider that keeps its own account, in every order and over stops: at every event
// what is spent, held and left comes to each limit, and the provider never has more than that.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>

#include "delegation/tree.h"
#include "support/acting_model.h"
#include "support/priced_model.h"
#include "support/run.h"
#include "support/sim_world.h"

namespace deputy {
namespace {

constexpr std::string_view kWorkspace = "/work";

// The root hands out five tasks in each of four steps, half of the workers one more; all of it takes its time
// by chance.
ActingModel::Play play_of(std::uint64_t seed) {
  return [seed](const Scene& scene) -> Act {
    const std::size_t chance =
        std::hash<std::string>{}(fmt::format("{} {} {}", seed, scene.step, scene.heard));
    const Duration after = std::chrono::milliseconds(chance % 50);
    if (scene.agent == "leaf" || (scene.agent == "worker" && (scene.step > 0 || chance % 2 == 0)))
      return {.text = std::string(chance % 400, 'x'), .after = after};
    if (scene.agent == "worker")
      return {.calls = {call_of("task", R"({"agent":"leaf","prompt":"look"})")}, .after = after};
    if (scene.step == 4) return {.text = "over", .after = after};
    Act act{.after = after};
    for (int i = 0; i < 5; ++i)
      act.calls.push_back(call_of("task", fmt::format(R"({{"agent":"worker","prompt":"task {}"}})", i)));
    return act;
  };
}

// One limit is met by itself, or all of them, by the seed.
TreeLimits limits_of(std::uint64_t seed) {
  TreeLimits limits{.delegations = 1000,
                    .live_children = 3,
                    .live_sessions = 4,
                    .steps = 1000,
                    .tokens = 10'000'000,
                    .cost_micros = 100'000'000};
  if (seed % 5 == 0 || seed % 5 == 4) limits.delegations = 9;
  if (seed % 5 == 1 || seed % 5 == 4) limits.steps = 14;
  if (seed % 5 == 2 || seed % 5 == 4) limits.tokens = 60'000;
  if (seed % 5 == 3 || seed % 5 == 4) limits.cost_micros = 300'000;
  return limits;
}
Amount cap_of(const TreeLimits& limits) {
  return {limits.delegations, limits.steps, limits.tokens, limits.cost_micros};
}
bool within(const Amount& a, const Amount& b) {
  return a.delegations <= b.delegations && a.steps <= b.steps && a.tokens <= b.tokens &&
         a.cost_micros <= b.cost_micros;
}

struct World {
  explicit World(std::uint64_t chosen) : seed(chosen), limits(limits_of(chosen)) {
    disk.write_file("a.txt", "one\n");
  }
  const std::uint64_t seed;
  const TreeLimits limits;
  SimWorld disk;
  Bank bank;

  std::shared_ptr<MemoryStore::Memory> memory() const { return disk.memory; }
};

// One process that runs the tree.
struct TreeLife {
  TreeLife(World& in, std::uint64_t life)
      : world(in),
        loop(in.seed * 10 + life),
        processes(loop),
        random(in.seed * 10 + life),
        store(loop, in.memory()) {
    models.add(std::make_unique<PricedModel>(std::make_unique<ActingModel>(loop, play_of(in.seed)),
                                             world.bank, PricedModel::kPrice));
    profiles.add({.name = "worker", .tools = {"Read"}, .subagents = {"leaf"}});
    profiles.add({.name = "leaf", .tools = {"Read"}});
    store.subscribe([this](const Event&) { look(); });
  }

  // What must hold at every moment, whoever is in the middle of what.
  void look() {
    const Budget& budget = tree.budget();
    const Amount cap = cap_of(world.limits);
    const Amount granted = budget.spent() + budget.held();
    EXPECT_TRUE(within({}, budget.held()));
    EXPECT_TRUE(within(granted, cap)) << "seed " << world.seed;
    EXPECT_EQ(granted + budget.left(), cap) << "seed " << world.seed;
    EXPECT_LE(world.bank.micros, granted.cost_micros) << "seed " << world.seed << ": spent without a grant";
    EXPECT_LE(world.bank.tokens, granted.tokens) << "seed " << world.seed;
    EXPECT_LE(tree.places_taken(), world.limits.live_sessions);
    if (++events == stops_at) stop.request(stops_for);
  }
  RootBrief brief() const {
    return {.brief = {.label = "root", .prompt = "go"},
            .model = ModelName("priced/x"),
            .workspace = std::string(kWorkspace),
            .rules = Rules({{Decision::allow, "task", ""}})};
  }

  World& world;
  SimLoop loop;
  InlinePool pool;
  SimProcesses processes;
  SeededRandom random;
  MemoryStore store;
  Models models;
  Profiles profiles = Profiles::built_in();
  QuestionDesk desk{Attendance::approves_all};
  StopSource stop;
  int events = 0;
  int stops_at = 0;
  StopReason stops_for = StopReason::user;
  Tree tree{{.loop = loop,
             .store = store,
             .pool = pool,
             .disk = world.disk.disk,
             .processes = processes,
             .random = random,
             .models = models,
             .profiles = profiles,
             .asker = desk},
            world.limits};
};

std::int64_t runs_of_children(const MemoryStore::Memory& memory) {
  return std::ranges::count_if(memory.journal, [&memory](const Event& event) {
    return std::holds_alternative<InputGiven>(event.fact) &&
           std::get<InputGiven>(event.fact).source == Source::parent &&
           memory.sessions.at(event.run.session).parent;
  });
}
// Which limits a call was refused for.
std::set<std::string> limits_met(const MemoryStore::Memory& memory) {
  std::set<std::string> met;
  for (const Event& event : memory.journal) {
    const auto* finished = std::get_if<CallFinished>(&event.fact);
    if (!finished) continue;
    for (const char* flag : {"--max-delegations", "--max-steps", "--max-tokens", "--max-cost"}) {
      if (finished->result.content.contains(flag)) met.insert(flag);
    }
  }
  return met;
}

void expect_settled(TreeLife& life) {
  const World& world = life.world;
  const Budget& budget = life.tree.budget();
  EXPECT_EQ(budget.held(), Amount{}) << "seed " << world.seed;
  EXPECT_EQ(budget.spent(), used_by(world.memory()->journal))
      << "seed " << world.seed << ": the journal says so";
  EXPECT_EQ(budget.spent().delegations, runs_of_children(*world.memory())) << "seed " << world.seed;
  EXPECT_EQ(life.tree.places_taken(), 0) << "seed " << world.seed;
  for (const auto& [id, session] : world.memory()->sessions)
    EXPECT_TRUE(is_terminal(session.state)) << id.value << " seed " << world.seed;
}

TEST(TreeBudgetSimulation, GrantsAndWhatRemainsComeToEachLimitAtEveryEvent) {
  std::set<std::string> met;
  for (std::uint64_t seed = 1; seed <= simulation_seeds(20) && !HasFailure(); ++seed) {
    World world(seed);
    TreeLife life(world, 1);
    ASSERT_TRUE(run(life.loop, life.tree.start(life.brief(), life.stop.token())));
    expect_settled(life);
    met.merge(limits_met(*world.memory()));
  }
  EXPECT_EQ(met.size(), 4u) << "a limit that is not met proves nothing";
}

TEST(TreeBudgetSimulation, SoTheyDoWhereItIsCancelledInTheMiddle) {
  for (std::uint64_t seed = 1; seed <= simulation_seeds(20) && !HasFailure(); ++seed) {
    World world(seed);
    TreeLife life(world, 1);
    life.stops_at = 5 + static_cast<int>(seed * 7 % 60);
    ASSERT_TRUE(run(life.loop, life.tree.start(life.brief(), life.stop.token())));
    expect_settled(life);
  }
}

TEST(TreeBudgetSimulation, SoTheyDoOverStopsAndRestarts) {
  for (std::uint64_t seed = 1; seed <= simulation_seeds(20) && !HasFailure(); ++seed) {
    World world(seed);
    std::optional<SessionId> root;
    for (std::uint64_t number = 1; number <= 3; ++number) {
      TreeLife life(world, number);
      // The last life of every other tree is cancelled: who is in line then was counted by an earlier one.
      life.stops_for = number < 3 ? StopReason::shutdown : StopReason::user;
      if (number < 3 || seed % 2 == 0) life.stops_at = 5 + static_cast<int>((seed * 7 + number * 11) % 40);
      const auto report = run(life.loop, root ? life.tree.resume(*root, std::nullopt, life.stop.token())
                                              : life.tree.start(life.brief(), life.stop.token()));
      root = life.tree.id();
      if (report) {
        expect_settled(life);
        break;
      }
      EXPECT_LT(number, 3u) << report.error().message;
    }
  }
}

}  // namespace
}  // namespace deputy
