#include "delegation/budget.h"

#include <gmock/gmock.h>

#include "async/sim_loop.h"
#include "async/sleep.h"
#include "async/task_group.h"
#include "base/random.h"
#include "delegation/profiles.h"
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

// A tree's journal as its budget sees it, and who spends under it.
struct Ledger {
  std::vector<Event> journal;
  std::int64_t granted = 0;  // by the outside world: tokens that were really used
  int reservations = 0;

  void add(int who, Fact fact) {
    Event event;
    event.run.session = SessionId("s" + std::to_string(who));
    event.fact = std::move(fact);
    journal.push_back(std::move(event));
  }
};

constexpr int kSpenders = 64;

void expect_sum(const Budget& budget, std::int64_t cap) {
  ASSERT_EQ(budget.spent().tokens + budget.held().tokens + budget.left().tokens, cap);
  ASSERT_GE(budget.left().tokens, 0);
  ASSERT_GE(budget.held().tokens, 0);
}

// Reserves, waits for its answer, and uses some of it, until it is stopped or refused for good.
Task<> spender(Loop& loop, Budget& budget, Ledger& ledger, int who, std::uint64_t seed, int rounds,
               StopToken stop) {
  SeededRandom random(seed);
  const std::int64_t cap = budget.limits().tokens;
  for (int round = 0; round < rounds && !stop.stopped(); ++round) {
    const auto most = static_cast<std::int64_t>(random.below(40)) + 1;
    auto hold = budget.reserve({.steps = 1, .tokens = most});
    ledger.reservations += 1;
    expect_sum(budget, cap);
    if (!hold) continue;
    ledger.add(who, BudgetReserved{most, 0});
    co_await sleep_for(loop, std::chrono::milliseconds(random.below(5)), stop);
    const auto used = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(most) + 1));
    ledger.granted += used;
    if (stop.stopped()) co_return;  // the process dies here: nobody hears what it came to
    Reply reply{.stop = ReplyStop::failed, .usage = {.input = used}};
    hold->settle(amount_of(reply, BudgetReserved{most, 0}));
    ledger.add(who, ReplyReceived{std::move(reply)});
    expect_sum(budget, cap);
  }
}

// Several lives of one tree; each but the last dies at a random moment. Returns how often something was
// reserved.
int spend_in_lives(std::uint64_t seed, int rounds, int lives) {
  const std::int64_t cap = 2000;
  Ledger ledger;
  SeededRandom random(seed);
  for (int life = 1; life <= lives; ++life) {
    SimLoop loop(seed * 100 + static_cast<std::uint64_t>(life));
    const Amount used = used_by(ledger.journal);
    EXPECT_GE(used.tokens, ledger.granted) << "seed " << seed << ": something was forgotten";
    EXPECT_LE(used.tokens, cap) << "seed " << seed;
    Budget budget({.steps = kUnlimited<std::int64_t>, .tokens = cap}, used);
    expect_sum(budget, cap);
    TaskGroup group(loop);
    for (int who = 0; who < kSpenders; ++who)
      group.spawn(spender(loop, budget, ledger, who, random.next(), rounds, group.token()));
    const bool dies = life < lives;
    const TimePoint death = loop.clock().now() + std::chrono::milliseconds(random.below(20));
    loop.run_until([&] { return dies && loop.clock().now() >= death; });
    group.request_stop(StopReason::shutdown);
    loop.run_until_idle();
    EXPECT_LE(ledger.granted, cap) << "seed " << seed << ", life " << life;
    if (!dies) EXPECT_EQ(budget.held(), Amount{});
  }
  EXPECT_EQ(used_by(ledger.journal).tokens >= ledger.granted, true);
  return ledger.reservations;
}

TEST(BudgetSimulation, GrantsAndWhatRemainsComeToTheLimitInEveryOrder) {
  for (std::uint64_t seed = 1; seed <= 20 && !HasFailure(); ++seed)
    EXPECT_GT(spend_in_lives(seed, 16, 1), 500);
}

TEST(BudgetSimulation, GrantsAndWhatRemainsComeToTheLimitOverStops) {
  for (std::uint64_t seed = 1; seed <= 20 && !HasFailure(); ++seed) spend_in_lives(seed, 16, 4);
}

TEST(BudgetLong, AMillionReservationsOfSixtyFourOverAThousandOrders) {
  std::int64_t reservations = 0;
  for (std::uint64_t seed = 1; seed <= 1000 && !HasFailure(); ++seed) {
    reservations += spend_in_lives(seed, 16, 1);
    reservations += spend_in_lives(seed, 16, 3);
  }
  EXPECT_GE(reservations, 1'000'000);
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

}  // namespace
}  // namespace deputy
