#include "delegation/budget.h"

#include <gmock/gmock.h>

#include <map>
#include <set>

#include "async/sim_loop.h"
#include "async/sleep.h"
#include "async/task_group.h"
#include "base/random.h"
#include "delegation/profiles.h"
#include "delegation/slots.h"
#include "support/run.h"

namespace deputy {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(Budget, GivesAllThatThereIsAndNotOneMore) {
  Budget budget({.delegations = 2, .steps = 3, .tokens = 100, .cost_micros = 50});
  auto all = budget.reserve({.delegations = 2, .steps = 3, .tokens = 100, .cost_micros = 50});
  ASSERT_TRUE(all);
  EXPECT_FALSE(budget.reserve({.delegations = 1}));
  EXPECT_FALSE(budget.reserve({.steps = 1}));
  EXPECT_FALSE(budget.reserve({.tokens = 1}));
  EXPECT_FALSE(budget.reserve({.cost_micros = 1}));
  EXPECT_TRUE(budget.reserve({}));
  EXPECT_EQ(budget.left(), Amount{});
}

TEST(Budget, ZeroIsZeroAndNoneIsNoLimit) {
  Budget nothing({.delegations = 0, .steps = 0, .tokens = 0, .cost_micros = 0});
  EXPECT_FALSE(nothing.reserve({.delegations = 1}));
  EXPECT_FALSE(nothing.reserve({.steps = 1}));
  EXPECT_FALSE(nothing.reserve({.tokens = 1}));
  EXPECT_FALSE(nothing.reserve({.cost_micros = 1}));
  Budget anything({.delegations = kUnlimited<int>});
  auto much = anything.reserve({1'000'000, 1'000'000, 1'000'000'000'000, 1'000'000'000'000});
  ASSERT_TRUE(much);
  much->settle(much->amount());
  EXPECT_TRUE(anything.reserve({1'000'000, 1'000'000, 1'000'000'000'000, 1'000'000'000'000}));
}

TEST(Budget, WhatIsNotSpentComesBack) {
  Budget budget({.tokens = 100});
  auto hold = budget.reserve({.tokens = 60});
  ASSERT_TRUE(hold);
  EXPECT_EQ(budget.left().tokens, 40);
  hold->settle({.tokens = 25});
  EXPECT_EQ(budget.left().tokens, 75);
  {
    const auto dropped = budget.reserve({.tokens = 75});
  }
  EXPECT_EQ(budget.left().tokens, 75) << "refunded where nothing came of it";
  EXPECT_EQ(budget.spent().tokens, 25);
}

TEST(Budget, AFurtherAttemptIsReservedForAnew) {
  Budget budget({.tokens = 100});
  auto hold = budget.reserve({.tokens = 50});
  ASSERT_TRUE(hold);
  hold->spend({.tokens = 30});
  EXPECT_TRUE(hold->renew({.tokens = 50}));
  hold->spend({.tokens = 30});
  EXPECT_FALSE(hold->renew({.tokens = 50})) << "60 are spent, so 40 are left";
  EXPECT_TRUE(hold->renew({.tokens = 40}));
  EXPECT_EQ(budget.left().tokens, 0);
}

TEST(Budget, EachRefusalSaysWhichLimitItsValueWhatIsInUseAndHowToRaiseIt) {
  Budget budget({.delegations = 5, .steps = 5, .tokens = 1000, .cost_micros = 500'000});
  auto hold = budget.reserve({.delegations = 5, .steps = 4, .tokens = 900, .cost_micros = 250'000});
  ASSERT_TRUE(hold);
  const auto why = [&](const Amount& need) { return budget.reserve(need).error(); };
  EXPECT_THAT(why({.delegations = 1}),
              AllOf(HasSubstr("budget exhausted"), HasSubstr("5 of 5"), HasSubstr("--max-delegations")));
  EXPECT_THAT(why({.steps = 2}), AllOf(HasSubstr("budget exhausted"), HasSubstr("--max-steps")));
  EXPECT_THAT(why({.tokens = 200}), AllOf(HasSubstr("budget exhausted"), HasSubstr("200 tokens"),
                                          HasSubstr("1,000"), HasSubstr("900"), HasSubstr("--max-tokens")));
  EXPECT_THAT(why({.cost_micros = 300'000}),
              AllOf(HasSubstr("budget exhausted"), HasSubstr("$0.3000"), HasSubstr("$0.5000"),
                    HasSubstr("$0.2500"), HasSubstr("--max-cost")));
}

// A tree's journal as its budget sees it.
struct Ledger {
  std::vector<Event> journal;

  void add(std::string_view session, Fact fact) {
    Event event;
    event.run.session = SessionId(std::string(session));
    event.fact = std::move(fact);
    journal.push_back(std::move(event));
  }
  void add(int who, Fact fact) { add("s" + std::to_string(who), std::move(fact)); }
};

constexpr int kSpenders = 64;
constexpr int kParents = 8;
constexpr Amount kPlenty{
    .delegations = 10'000, .steps = 10'000, .tokens = 1'000'000, .cost_micros = 3'000'000};

// Which limit is met, by the seed: each by itself, then all of them.
Amount cap_of(std::uint64_t seed) {
  const Amount tight{.delegations = 240, .steps = 480, .tokens = 8000, .cost_micros = 24'000};
  Amount cap = kPlenty;
  if (seed % 5 == 0 || seed % 5 == 4) cap.delegations = tight.delegations;
  if (seed % 5 == 1 || seed % 5 == 4) cap.steps = tight.steps;
  if (seed % 5 == 2 || seed % 5 == 4) cap.tokens = tight.tokens;
  if (seed % 5 == 3 || seed % 5 == 4) cap.cost_micros = tight.cost_micros;
  return cap;
}
TreeLimits limits_at(const Amount& cap) {
  return {.delegations = static_cast<int>(cap.delegations),
          .live_children = 4,
          .live_sessions = 20,
          .steps = cap.steps,
          .tokens = cap.tokens,
          .cost_micros = cap.cost_micros};
}
bool fits(const Amount& need, const Amount& room) {
  return need.delegations <= room.delegations && need.steps <= room.steps && need.tokens <= room.tokens &&
         need.cost_micros <= room.cost_micros;
}

// The same account, kept beside the budget by whoever spends: what each holds and has spent, over all lives
// of the tree, and who runs. All that the budget and the slots say is held against it.
struct Account {
  explicit Account(const Amount& all) : cap(all) {}

  const Amount cap;
  Amount spent;
  Amount held;
  Ledger ledger;
  std::map<int, int> running;  // by parent
  int granted = 0;
  int sessions = 0;
  std::set<std::string> met;  // limits

  void expect_agrees(const Budget& budget, const Slots& slots) const {
    ASSERT_EQ(budget.spent(), spent);
    ASSERT_EQ(budget.held(), held);
    ASSERT_EQ(budget.left(), cap - spent - held) << "grants and what remains come to the limit";
    ASSERT_TRUE(fits({}, cap - spent - held)) << "more was granted than there is";
    int all = 0;
    for (const auto& [parent, children] : running) {
      ASSERT_LE(children, slots.limits().live_children);
      all += children;
    }
    ASSERT_LE(all, slots.running()) << "those who have just been given a place do not know it yet";
    ASSERT_LE(slots.running(), slots.limits().live_sessions);
  }
  // Granted exactly where it fits.
  std::expected<Budget::Hold, std::string> reserve(Budget& budget, const Amount& need) {
    const bool has_room = fits(need, cap - spent - held);
    auto hold = budget.reserve(need);
    EXPECT_EQ(hold.has_value(), has_room);
    if (hold) {
      granted += 1;
      held = held + need;
    } else {
      met.insert(hold.error().substr(hold.error().find("--max")));
    }
    return hold;
  }
  void spend(const Amount& used, const Amount& of) {
    spent = spent + used;
    held = held - of;
  }
  // A child of the tree, on record; one that was stopped in line came to nothing.
  void record_child(std::int64_t delegations, bool begins) {
    if (delegations == 0) return;
    const std::string id = "child" + std::to_string(++sessions);
    Session child;
    child.parent = SessionId("root");
    ledger.add(id, SessionCreated{child});
    if (begins) {
      ledger.add(id, RunStarted{});
      ledger.add(id, InputGiven{});
    } else {
      ledger.add(id, RunEnded{});
    }
  }
};

struct Spending {
  Loop& loop;
  Budget& budget;
  Slots& slots;
  Account& account;
};

// Reserves, waits for a place and then for its answer, and uses some of what it reserved, until it is
// stopped.
Task<> spender(Spending at, int who, std::uint64_t seed, int rounds, StopToken stop) {
  auto& [loop, budget, slots, account] = at;
  SeededRandom random(seed);
  const auto below = [&random](std::int64_t most) {
    return static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(most)));
  };
  for (int round = 0; round < rounds && !stop.stopped(); ++round) {
    const Amount most{
        .delegations = below(2), .steps = 1, .tokens = below(40) + 1, .cost_micros = below(120) + 1};
    auto hold = account.reserve(budget, most);
    account.expect_agrees(budget, slots);
    if (!hold) {
      co_await sleep_for(loop, std::chrono::milliseconds(below(2)), stop);
      continue;
    }
    const int parent = who % kParents;
    const Slots::Ticket ticket = slots.take_ticket(SessionId("p" + std::to_string(parent)));
    auto place = co_await ticket.wait(stop);
    if (!place || stop.stopped()) {  // the process dies: what was not on record never was
      account.spend({}, most);
      co_return;
    }
    account.running[parent] += 1;
    const bool begins = below(8) > 0;
    account.record_child(most.delegations, begins);
    if (begins) {
      const Amount delegation{.delegations = most.delegations};
      hold->spend(delegation);
      account.spend(delegation, delegation);
      account.expect_agrees(budget, slots);
      const Amount request = most - delegation;
      account.ledger.add(who, BudgetReserved{most.tokens, most.cost_micros});
      co_await sleep_for(loop, std::chrono::milliseconds(below(5)), stop);
      if (stop.stopped()) {  // nobody hears what it came to: all of it counts
        account.spend(request, request);
        co_return;
      }
      const Amount used{.steps = 1, .tokens = below(most.tokens) + 1, .cost_micros = below(most.cost_micros)};
      hold->settle(used);
      account.spend(used, request);
      account.ledger.add(who,
                         ReplyReceived{{.stop = ReplyStop::finished,
                                        .usage = {.input = used.tokens, .cost_micros = used.cost_micros}}});
    } else {
      hold->give_back();
      account.spend({}, most);
    }
    account.running[parent] -= 1;
    place.reset();
    account.expect_agrees(budget, slots);
  }
}

// Several lives of one tree; each but the last dies at a random moment.
Account spend_in_lives(std::uint64_t seed, int rounds, int lives) {
  Account account(cap_of(seed));
  SeededRandom random(seed);
  for (int life = 1; life <= lives; ++life) {
    SimLoop loop(seed * 100 + static_cast<std::uint64_t>(life));
    EXPECT_EQ(used_by(account.ledger.journal), account.spent) << "seed " << seed << ", life " << life;
    EXPECT_EQ(account.held, Amount{}) << "seed " << seed;
    Budget budget(limits_at(account.cap), account.spent);
    Slots slots(limits_at(account.cap));
    account.running.clear();
    TaskGroup group(loop);
    for (int who = 0; who < kSpenders; ++who)
      group.spawn(spender({loop, budget, slots, account}, who, random.next(), rounds, group.token()));
    const bool dies = life < lives;
    const TimePoint death = loop.clock().now() + std::chrono::milliseconds(random.below(20));
    loop.run_until([&] { return dies && loop.clock().now() >= death; });
    group.request_stop(StopReason::shutdown);
    loop.run_until_idle();
    EXPECT_EQ(slots.running(), 0) << "seed " << seed << ", life " << life;
    EXPECT_EQ(budget.held(), Amount{}) << "seed " << seed << ", life " << life;
    if (!dies) account.expect_agrees(budget, slots);
  }
  EXPECT_EQ(used_by(account.ledger.journal), account.spent) << "seed " << seed;
  return account;
}

TEST(BudgetSimulation, GrantsAndWhatRemainsComeToTheLimitInEveryOrder) {
  std::set<std::string> met;
  for (std::uint64_t seed = 1; seed <= 20 && !HasFailure(); ++seed)
    met.merge(spend_in_lives(seed, 16, 1).met);
  EXPECT_EQ(met.size(), 4u)
      << "delegations, steps, tokens and dollars: a limit that is not met proves nothing";
}

TEST(BudgetSimulation, GrantsAndWhatRemainsComeToTheLimitOverStops) {
  for (std::uint64_t seed = 1; seed <= 20 && !HasFailure(); ++seed) spend_in_lives(seed, 16, 4);
}

TEST(BudgetLong, AMillionReservationsOfSixtyFourOverAThousandOrders) {
  std::int64_t granted = 0;
  for (std::uint64_t seed = 1; seed <= 1000 && !HasFailure(); ++seed) {
    granted += spend_in_lives(seed, 16, 1).granted;
    granted += spend_in_lives(seed, 16, 3).granted;
  }
  EXPECT_GE(granted, 1'000'000);
}

TEST(UsedBy, CountsRepliesFailuresStopsAndWhatWasLeftOpen) {
  Ledger ledger;
  Session child;
  child.parent = SessionId("s0");
  ledger.add(0, SessionCreated{});
  ledger.add(0, RunStarted{});
  ledger.add(1, SessionCreated{child});
  ledger.add(1, RunStarted{});
  ledger.add(1, RunStarted{});
  ledger.journal.back().run.number = 2;  // resumed: it counts again
  EXPECT_EQ(used_by(ledger.journal), (Amount{.delegations = 2}));
  ledger.add(0, BudgetReserved{100, 50});
  ledger.add(0, Retried{.usage = {.input = 7, .cost_micros = 3}});
  ledger.add(0, ReplyReceived{{.usage = {.input = 10, .output = 5, .cost_micros = 8}}});
  EXPECT_EQ(used_by(ledger.journal), (Amount{2, 1, 22, 11}));
  ledger.add(1, BudgetReserved{100, 50});
  EXPECT_EQ(used_by(ledger.journal), (Amount{2, 2, 122, 61})) << "left open";
  ledger.add(1, RequestStopped{{.input = 4, .cost_micros = 2}});
  EXPECT_EQ(used_by(ledger.journal), (Amount{2, 1, 26, 13})) << "stopped: what it had come to";
  ledger.add(1, BudgetReserved{100, 50});
  ledger.add(1, BudgetReserved{60, 30});
  ledger.add(1, ReplyReceived{{.stop = ReplyStop::finished}});
  EXPECT_EQ(used_by(ledger.journal), (Amount{2, 3, 186, 93})) << "who tells nothing has used all of it";
  const auto cut = ledger.journal.begin() + 7;  // between a reservation and what it came to
  EXPECT_EQ(used_by({ledger.journal.begin(), cut}, {cut, ledger.journal.end()}), used_by(ledger.journal));
}

TEST(UsedBy, NothingIsLeftOpenBehindAnAttemptForWhichThereIsNoRoomAgain) {
  Ledger ledger;
  ledger.add(0, SessionCreated{});
  ledger.add(0, RunStarted{});
  ledger.add(0, BudgetReserved{100, 50});
  ledger.add(0, Retried{.usage = {.input = 7, .cost_micros = 3}});
  EXPECT_EQ(used_by(ledger.journal), (Amount{0, 1, 107, 53})) << "another is under way";
  ledger.add(0, Retried{.usage = {.input = 90, .cost_micros = 40}, .is_last = true});
  EXPECT_EQ(used_by(ledger.journal), (Amount{0, 0, 97, 43}));
}

TEST(UsedBy, ASummaryCountsAsAStepAndSettlesWhatWasReservedForIt) {
  Ledger ledger;
  ledger.add(0, SessionCreated{});
  ledger.add(0, RunStarted{});
  ledger.add(0, BudgetReserved{100, 50});
  EXPECT_EQ(used_by(ledger.journal), (Amount{0, 1, 100, 50}));
  ledger.add(0, Compacted{{.usage = {.input = 10, .output = 5, .cost_micros = 8}}, 3});
  EXPECT_EQ(used_by(ledger.journal), (Amount{0, 1, 15, 8})) << "nothing is left open";
  ledger.add(0, BudgetReserved{100, 50});
  ledger.add(0, Compacted{{.stop = ReplyStop::finished}, 4});
  EXPECT_EQ(used_by(ledger.journal), (Amount{0, 2, 115, 58})) << "who tells nothing has used all of it";
}

TEST(UsedBy, ARunThatUndoesACompactionAsksForNothing) {
  const auto has_begun_with = [](RunTask task) {
    Ledger ledger;
    ledger.add(0, SessionCreated{});
    RunStarted started;
    started.task = task;
    ledger.add(0, started);
    return has_begun(ledger.journal);
  };
  EXPECT_TRUE(has_begun_with(RunTask::compact));
  EXPECT_FALSE(has_begun_with(RunTask::undo_compaction));
  EXPECT_FALSE(has_begun_with(RunTask::reply)) << "it has yet to be told what to do";
}

TEST(UsedBy, CountsWhatNothingWasReservedForButNotTheWordsOfACommand) {
  Ledger ledger;
  Session main;
  main.agent = "main";
  Session command;
  command.agent = std::string(kCommandAgent);
  ledger.add(0, SessionCreated{main});
  ledger.add(1, SessionCreated{command});
  ledger.add(0, ReplyReceived{{.usage = {.input = 1000, .output = 10, .cost_micros = 30}}});
  EXPECT_EQ(used_by(ledger.journal), (Amount{0, 1, 1010, 30}));
  ledger.add(0, ReplyReceived{{.stop = ReplyStop::finished}});
  EXPECT_EQ(used_by(ledger.journal), (Amount{0, 2, 1010, 30})) << "a step, of which nothing was told";
  ledger.add(0, Retried{.usage = {.input = 5, .cost_micros = 1}});
  ledger.add(0, RequestStopped{{.input = 5, .cost_micros = 1}});
  EXPECT_EQ(used_by(ledger.journal), (Amount{0, 2, 1020, 32}));
  ledger.add(1, ReplyReceived{{.stop = ReplyStop::calls, .usage = {.cost_micros = 0}}});
  EXPECT_EQ(used_by(ledger.journal), (Amount{0, 2, 1020, 32})) << "the words of a command";
}

TEST(UsedBy, AChildThatWasStoppedInLineIsNoDelegation) {
  Ledger ledger;
  Session child;
  child.parent = SessionId("s0");
  for (const int who : {1, 2, 3}) ledger.add(who, SessionCreated{child});
  ledger.add(1, RunStarted{});
  ledger.add(1, InputGiven{});
  EXPECT_EQ(used_by(ledger.journal).delegations, 3) << "two are in line";
  ledger.add(2, RunEnded{});
  ledger.add(1, RunEnded{});
  EXPECT_EQ(used_by(ledger.journal).delegations, 2);
  const auto resumed = [&ledger](Fact fact) {
    ledger.add(1, std::move(fact));
    ledger.journal.back().run.number = 2;
  };
  resumed(RunStarted{});
  EXPECT_EQ(used_by(ledger.journal).delegations, 3);
  resumed(RunEnded{});
  EXPECT_EQ(used_by(ledger.journal).delegations, 2) << "nor is one that was stopped before it went on";
}

TEST(UsedBy, AResumedChildIsADelegationOnceItHasHadAPlace) {
  const StateChanged in_line{SessionState::waiting, "w", std::string(kPlace)};
  const auto counted = [](const std::vector<Fact>& second_run) {
    Ledger ledger;
    Session child;
    child.parent = SessionId("s0");
    for (const Fact& fact : {Fact(SessionCreated{child}), Fact(RunStarted{}), Fact(InputGiven{}),
                             Fact(ReplyReceived{}), Fact(RunEnded{})})
      ledger.add(1, fact);
    for (const Fact& fact : second_run) {
      ledger.add(1, fact);
      ledger.journal.back().run.number = 2;
    }
    return used_by(ledger.journal).delegations - 1;
  };
  EXPECT_EQ(counted({RunStarted{}, InputGiven{}, in_line}), 1) << "it may still get one";
  EXPECT_EQ(counted({RunStarted{}, InputGiven{}, in_line, RunEnded{}}), 0);
  EXPECT_EQ(counted({RunStarted{}, InputGiven{}, RunEnded{}}), 1);
  EXPECT_EQ(
      counted({RunStarted{}, InputGiven{}, in_line, StateChanged{SessionState::running, ""}, RunEnded{}}), 1);
  EXPECT_EQ(counted({RunStarted{}, InputGiven{}, ReplyReceived{}, in_line, RunEnded{}}), 1)
      << "it had one before a restart";
  Ledger first;
  Session child;
  child.parent = SessionId("s0");
  for (const Fact& fact :
       {Fact(SessionCreated{child}), Fact(RunStarted{}), Fact(InputGiven{}), Fact(in_line), Fact(RunEnded{})})
    first.add(1, fact);
  EXPECT_EQ(used_by(first.journal).delegations, 1) << "a first run is told what to do when it has one";
}

}  // namespace
}  // namespace deputy
