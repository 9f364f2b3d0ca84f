// Budgets on the whole runtime, against a provider that keeps its own account: whatever happens, it never
// charges more than the tree may spend.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <limits>

#include "support/acting_model.h"
#include "support/priced_model.h"
#include "support/sim_world.h"

namespace deputy {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// A parent with four children that read and note a few times each.
constexpr std::string_view kWork = R"({"v":1,"sessions":[
  {"match":{"agent":"main"},"replies":[
    {"text":"I ask.","calls":[{"name":"Delegate","arguments":{"tasks":[{"label":"a","prompt":"p"},{"label":"b","prompt":"p"},{"label":"c","prompt":"p"},{"label":"d","prompt":"p"}],"concurrency":4}}]},
    {"text":"All is said."},{"text":"All is said."}]},
  {"match":{"agent":"reader"},"replies":[
    {"text":"I look.","calls":[{"name":"Read","arguments":{"file_path":"a.txt"}}],"first_byte_ms":20},
    {"calls":[{"name":"Note","arguments":{"content":"a finding"}}],"first_byte_ms":20},
    {"text":"I look again.","calls":[{"name":"Read","arguments":{"file_path":"a.txt"}}],"first_byte_ms":20},
    {"text":"A report.","first_byte_ms":20},{"text":"A report.","first_byte_ms":20}]}]})";

struct Spending {
  SimWorld world;
  Bank bank;

  Spending() {
    world.script = kWork;
    world.write_file("a.txt", std::string(4000, 'x'));
  }
  Life::Options options(TreeLimits limits, std::uint64_t seed = 1, CrashPoint crash = {},
                        std::optional<Price> price = PricedModel::kPrice) {
    return {.seed = seed, .crash = crash, .limits = limits, .model = [this, price](Loop& loop) {
              return std::make_unique<PricedModel>(*ScriptedProvider::parse(world.script, loop), bank, price);
            }};
  }
  static RootBrief brief(const Life& life) {
    RootBrief root = life.brief("go");
    root.model = ModelName("priced/x");
    return root;
  }
  Result<Report> go(TreeLimits limits, std::uint64_t seed = 1) {
    Life life(world, options(limits, seed));
    return life.start(brief(life));
  }
  std::string told() const {
    for (const auto& event : world.memory->journal) {
      const auto* finished = std::get_if<CallFinished>(&event.fact);
      if (finished && world.memory->sessions.at(event.run.session).depth == 0)
        return finished->result.content;
    }
    return {};
  }
};

// What the undisturbed work costs.
Bank whole_cost() {
  Spending spending;
  EXPECT_TRUE(spending.go({}));
  return spending.bank;
}

TEST(BudgetOfATree, EnoughChangesNothing) {
  const Bank whole = whole_cost();
  Spending spending;
  const auto report = spending.go({.tokens = whole.tokens * 10, .cost_micros = whole.micros * 10});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->status, Status::completed);
  EXPECT_EQ(spending.bank.micros, whole.micros);
  const Session root = spending.world.sessions().front();
  EXPECT_EQ(root.limits->cost_micros, whole.micros * 10);
}

TEST(BudgetOfATree, AChildWithoutACapOnItsAnswersKeepsALastStepThatTheModelsWindowHolds) {
  Spending spending;
  spending.world.script = R"({"v":1,"sessions":[
    {"match":{"agent":"main"},"replies":[{"calls":[{"name":"task","arguments":{"agent":"uncapped","prompt":"p"}}]},{"text":"over"}]},
    {"match":{"agent":"uncapped"},"replies":[
      {"calls":[{"name":"Read","arguments":{"file_path":"a.txt"}}]},{"text":"A report."},{"text":"Cut short."}]}]})";
  Life::Options options = spending.options({.tokens = 500'000});
  options.profiles = {
      {.name = "uncapped", .tools = {"Read"}, .max_output_tokens = std::numeric_limits<int>::max()}};
  Life life(spending.world, options);
  ASSERT_TRUE(life.start(Spending::brief(life)));
  EXPECT_THAT(spending.told(), AllOf(HasSubstr("Status: completed"), HasSubstr("A report.")));
  EXPECT_THAT(spending.bank.caps, testing::Each(testing::Le(200'000))) << "nor may one count for more";
}

TEST(BudgetOfATreeSimulation, ARunWithMaxCostNeverExceedsIt) {
  const Bank whole = whole_cost();
  const std::uint64_t seeds = simulation_seeds(40);
  int ended_by_budget = 0;
  for (std::uint64_t seed = 1; seed <= seeds && !testing::Test::HasFailure(); ++seed) {
    const std::int64_t cap = whole.micros * static_cast<std::int64_t>(seed % 20) / 10;
    Spending spending;
    const auto report = spending.go({.cost_micros = cap}, seed);
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_LE(spending.bank.micros, cap) << "seed " << seed;
    for (const auto& session : spending.world.sessions()) {
      EXPECT_TRUE(is_terminal(session.state)) << session.label << " seed " << seed;
      ended_by_budget += session.reason == Reason::budget;
      if (session.reason == Reason::budget) EXPECT_EQ(session.state, SessionState::partial);
    }
    EXPECT_EQ(used_by(spending.world.memory->journal).cost_micros, spending.bank.micros) << "seed " << seed;
  }
  EXPECT_GT(ended_by_budget, 0) << "no limit was met: this proves nothing";
}

TEST(BudgetOfATreeSimulation, NorDoesOneWithMaxTokens) {
  const Bank whole = whole_cost();
  const std::uint64_t seeds = simulation_seeds(40);
  for (std::uint64_t seed = 1; seed <= seeds && !testing::Test::HasFailure(); ++seed) {
    const std::int64_t cap = whole.tokens * static_cast<std::int64_t>(seed % 20) / 10;
    Spending spending;
    ASSERT_TRUE(spending.go({.tokens = cap}, seed));
    EXPECT_LE(spending.bank.tokens, cap) << "seed " << seed;
  }
}

TEST(BudgetOfATreeSimulation, NorOneThatDiesAndIsResumedAtAnyRecord) {
  const Bank whole = whole_cost();
  const std::uint64_t seeds = simulation_seeds(20);
  for (std::uint64_t seed = 1; seed <= seeds && !testing::Test::HasFailure(); ++seed) {
    const std::int64_t cap = whole.micros * static_cast<std::int64_t>(seed % 10 + 4) / 5;
    for (int record = 2;; record += 3) {
      Spending spending;
      {
        Life life(spending.world, spending.options({.cost_micros = cap}, seed, {record, seed % 2 == 0}));
        const auto report = life.start(Spending::brief(life));
        if (!life.crashed()) break;
      }
      if (spending.world.sessions().empty()) continue;
      const std::int64_t before = used_by(spending.world.memory->journal).cost_micros;
      EXPECT_GE(before, spending.bank.micros)
          << "seed " << seed << " record " << record << ": money vanished";
      EXPECT_LE(before, cap);
      Life second(spending.world, spending.options({}, seed + 1000));
      ASSERT_TRUE(second.resume(spending.world.sessions().front().id)) << "seed " << seed;
      EXPECT_LE(spending.bank.micros, cap) << "seed " << seed << " record " << record;
    }
  }
}

TEST(BudgetOfATreeSimulation, ACancelledOneGivesBackWhatItDidNotSpend) {
  const Bank whole = whole_cost();
  for (std::uint64_t seed = 1; seed <= simulation_seeds(20); ++seed) {
    Spending spending;
    Life life(spending.world, spending.options({.cost_micros = whole.micros * 5}, seed));
    life.after_event(8 + static_cast<int>(seed % 20),
                     [](Runtime& runtime) { runtime.cancel(StopReason::user); });
    ASSERT_TRUE(life.start(Spending::brief(life)));
    const std::int64_t used = used_by(spending.world.memory->journal).cost_micros;
    EXPECT_GE(used, spending.bank.micros)
        << "seed " << seed << ": what was stopped counts with what it had come to";
    EXPECT_LE(used, spending.bank.micros * 2) << "seed " << seed << ": and with little more";
    std::int64_t attributed = 0;
    for (const auto& session : spending.world.sessions()) attributed += session.usage.cost_micros.value_or(0);
    EXPECT_EQ(attributed, used) << "seed " << seed << ": cost is attributed, failures included";
  }
}

// A model that fails so often before it gives up, and never says what that took.
class FailingModel final : public Provider {
 public:
  FailingModel(Bank& bank, int attempts, Usage tells) : bank_(bank), attempts_(attempts), tells_(tells) {}
  std::string_view name() const override { return "priced"; }
  std::string encode(const Message&) const override { return {}; }
  std::int64_t window(const ModelName&) const override { return 200'000; }
  std::optional<Price> price(const ModelName&) const override { return PricedModel::kPrice; }
  Task<Reply> ask(Request request, DeltaSink deltas, StopToken stop) override {
    const Reply reply{.stop = ReplyStop::failed, .model = request.prefix->model, .usage = tells_};
    for (int attempt = 1; attempt < attempts_ && !stop.stopped(); ++attempt) {
      charge(request);
      deltas(TextDelta{"half of an answer"});
      deltas(Retried{.reason = "it broke off", .attempt = attempt, .usage = tells_});
    }
    if (stop.stopped()) co_return Reply{.stop = ReplyStop::stopped, .usage = {.cost_micros = 0}};
    charge(request);
    co_return reply;
  }

 private:
  void charge(const Request& request) {
    if (bank_.is_gone && bank_.is_gone()) return;
    const Usage used{.input = estimated_usage(request, {}).input,
                     .output = request.prefix->max_output_tokens};
    bank_.micros += tells_.cost_micros == 0 ? 0 : cost_of(used, PricedModel::kPrice);
    bank_.requests += 1;
  }
  Bank& bank_;
  int attempts_;
  Usage tells_;
};

Result<Report> fail_often(Spending& spending, Usage tells, std::int64_t cap) {
  auto options = spending.options({.cost_micros = cap});
  options.model = [&spending, tells](Loop&) {
    return std::make_unique<FailingModel>(spending.bank, 50, tells);
  };
  Life life(spending.world, std::move(options));
  return life.start(Spending::brief(life));
}

TEST(BudgetOfATree, AttemptsThatFailWithoutAWordOnWhatTheyTookNeverExceedIt) {
  for (const std::int64_t cap : {500'000, 800'000, 1'200'000}) {
    Spending spending;
    const auto report = fail_often(spending, {}, cap);
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_EQ(report->reason, Reason::budget);
    EXPECT_THAT(report->body, HasSubstr("half of an answer")) << "what the last attempt had said is kept";
    EXPECT_LE(spending.bank.micros, cap);
    EXPECT_GT(spending.bank.requests, 1);
    EXPECT_GE(used_by(spending.world.memory->journal).cost_micros, spending.bank.micros);
    EXPECT_LE(used_by(spending.world.memory->journal).cost_micros, cap);
  }
}

TEST(BudgetOfATree, NorDoTheyWhereTheProcessDiesAfterAnyOfThem) {
  constexpr std::int64_t kCap = 1'200'000;
  int most_attempts = 0;
  for (const bool committed : {false, true}) {
    for (int record = 1;; ++record) {
      SCOPED_TRACE(fmt::format("dies at record {}, {}", record, committed ? "behind it" : "before it"));
      Spending spending;
      const auto options = [&spending](CrashPoint crash) {
        auto failing = spending.options({.cost_micros = kCap}, 1, crash);
        failing.model = [&spending](Loop&) {
          return std::make_unique<FailingModel>(spending.bank, 50, Usage{});
        };
        return failing;
      };
      {
        Life life(spending.world, options({record, committed}));
        spending.bank.is_gone = [&life] { return life.crashed(); };
        (void)life.start(Spending::brief(life));
        spending.bank.is_gone = {};
        if (!life.crashed()) break;
      }
      if (spending.world.sessions().empty()) continue;
      most_attempts = std::max(most_attempts, spending.bank.requests);
      EXPECT_GE(used_by(spending.world.memory->journal).cost_micros, spending.bank.micros)
          << "money vanished after " << spending.bank.requests << " attempts";
      EXPECT_LE(used_by(spending.world.memory->journal).cost_micros, kCap)
          << "money was counted twice after " << spending.bank.requests << " attempts";
      Life second(spending.world, options({}));
      ASSERT_TRUE(second.resume(spending.world.sessions().front().id));
      EXPECT_LE(spending.bank.micros, kCap);
    }
  }
  EXPECT_GE(most_attempts, 3) << "it never died among attempts: this proves nothing";
}

TEST(BudgetOfATree, AttemptsThatNobodyTookCostNothing) {
  Spending spending;
  const auto report = fail_often(spending, {.cost_micros = 0}, 60'000);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->reason, Reason::provider_error);
  EXPECT_EQ(spending.bank.requests, 50);
  EXPECT_EQ(used_by(spending.world.memory->journal).cost_micros, 0);
}

// A server that never says what a request took.
class SilentOnUsage final : public Provider {
 public:
  explicit SilentOnUsage(std::unique_ptr<Provider> inner) : inner_(std::move(inner)) {}
  std::string_view name() const override { return "priced"; }
  std::string encode(const Message&) const override { return {}; }
  std::int64_t window(const ModelName&) const override { return 200'000; }
  std::optional<Price> price(const ModelName&) const override { return PricedModel::kPrice; }
  Task<Reply> ask(Request request, DeltaSink deltas, StopToken stop) override {
    Reply reply = co_await inner_->ask(std::move(request), std::move(deltas), std::move(stop));
    reply.usage = {};
    co_return reply;
  }

 private:
  std::unique_ptr<Provider> inner_;
};

TEST(BudgetOfATree, AModelThatCountsNothingIsChargedWhatIsReservedAndThatDoesNotGrowByItself) {
  constexpr int kSteps = 30;
  Spending spending;
  auto options = spending.options({.cost_micros = 100'000'000});
  options.model = [](Loop& loop) {
    auto busy = std::make_unique<ActingModel>(loop, [](const Scene& scene) {
      if (scene.step == kSteps) return Act{.text = "done"};
      return Act{.calls = {call_of("Note", fmt::format(R"({{"content":"{}"}})", scene.step))}};
    });
    return std::make_unique<SilentOnUsage>(std::move(busy));
  };
  Life life(spending.world, std::move(options));
  const auto report = life.start(Spending::brief(life));
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->body, "done");
  std::vector<BudgetReserved> reserved;
  Amount all;
  for (const auto& event : spending.world.memory->journal) {
    const auto* each = std::get_if<BudgetReserved>(&event.fact);
    if (!each) continue;
    reserved.push_back(*each);
    all.cost_micros += each->cost_micros;
  }
  ASSERT_EQ(reserved.size(), kSteps + 1u);
  EXPECT_LT(reserved.back().tokens, reserved.front().tokens * 2);
  EXPECT_EQ(used_by(spending.world.memory->journal).cost_micros, all.cost_micros);
}

// A person who asks and stops again and again, in one process or in many.
TEST(BudgetOfATree, StoppedRequestsNeverExceedIt) {
  const std::int64_t cap = 1'000'000;
  Spending spending;
  auto options = spending.options({.cost_micros = cap});
  options.model = [&spending](Loop& loop) {
    auto silent = std::make_unique<ActingModel>(
        loop, [](const Scene&) { return Act{.text = "never", .after = std::chrono::hours(1)}; });
    return std::make_unique<PricedModel>(std::move(silent), spending.bank, PricedModel::kPrice);
  };
  Reason last = Reason::none;
  int runs = 0;
  for (; runs < 200 && last != Reason::budget; ++runs) {
    Life life(spending.world, options);
    life.runtime().subscribe([&life](const Event& event, const EventOrigin&) {
      if (std::holds_alternative<BudgetReserved>(event.fact))
        life.loop().timers().call_at(life.loop().clock().now() + std::chrono::seconds(1),
                                     [&life] { life.runtime().cancel(StopReason::user); });
    });
    const auto report = runs == 0 ? life.start(Spending::brief(life))
                                  : life.say(spending.world.sessions().front().id, {.text = "again"});
    ASSERT_TRUE(report) << report.error().message;
    last = report->reason;
    ASSERT_LE(spending.bank.micros, cap);
    ASSERT_GE(used_by(spending.world.memory->journal).cost_micros, spending.bank.micros);
  }
  EXPECT_GT(runs, 2);
  EXPECT_EQ(last, Reason::budget) << "it was never met: this proves nothing";
}

TEST(BudgetOfATree, ALimitThatIsFirstSetAtAResumeCountsWhatWasSpentBefore) {
  const Bank whole = whole_cost();
  Spending spending;
  {
    Life life(spending.world, spending.options({}, 1, {.at_record = 8}));
    EXPECT_FALSE(life.start(Spending::brief(life)));
    ASSERT_TRUE(life.crashed());
  }
  const std::int64_t before = spending.bank.micros;
  ASSERT_GT(before, 0);
  const std::int64_t cap = whole.micros * 30;  // those in flight count in full
  Life second(spending.world, spending.options({}, 2));
  ASSERT_TRUE(second.resume(spending.world.sessions().front().id, TreeLimits{.cost_micros = cap}));
  EXPECT_LE(spending.bank.micros, cap);
  EXPECT_GT(spending.bank.micros, before);
}

// Nothing limits it until it is resumed, once or twice; at every record it may have been in a request.
TEST(BudgetOfATreeSimulation, ALimitFirstSetAtAResumeHoldsWhereverItDiedBefore) {
  const Bank whole = whole_cost();
  const std::uint64_t seeds = simulation_seeds(20);
  int refused = 0;
  for (std::uint64_t seed = 1; seed <= seeds && !testing::Test::HasFailure(); ++seed) {
    for (int record = 2;; record += 3) {
      Spending spending;
      {
        Life life(spending.world, spending.options({}, seed, {record, seed % 2 == 0}));
        (void)life.start(Spending::brief(life));
        if (!life.crashed()) break;
      }
      if (spending.world.sessions().empty()) continue;
      const SessionId root = spending.world.sessions().front().id;
      if (seed % 3 == 0) {  // and once more without a limit
        Life again(spending.world, spending.options({}, seed + 500, {3, seed % 2 == 0}));
        (void)again.resume(root);
        if (!again.crashed()) continue;
      }
      const std::int64_t before = spending.bank.micros;
      const std::int64_t cap = before + whole.micros * static_cast<std::int64_t>(seed % 5) * 2;
      Life last(spending.world, spending.options({}, seed + 1000));
      const auto report = last.resume(root, TreeLimits{.cost_micros = cap});
      ASSERT_TRUE(report) << "seed " << seed << " record " << record;
      EXPECT_LE(spending.bank.micros, cap) << "seed " << seed << " record " << record;
      EXPECT_GE(used_by(spending.world.memory->journal).cost_micros, spending.bank.micros)
          << "seed " << seed << " record " << record << ": money vanished";
      refused += report->reason == Reason::budget ? 1 : 0;
    }
  }
  EXPECT_GT(refused, 0) << "no limit was met: this proves nothing";
}

TEST(BudgetOfATree, AStepLimitFirstSetAtAResumeCountsTheRequestThatWasInFlight) {
  Spending spending;
  {
    Life life(spending.world, spending.options({}, 1, {.at_record = 2}));
    (void)life.start(Spending::brief(life));
    ASSERT_TRUE(life.crashed());
  }
  const std::int64_t asked = spending.bank.requests;
  ASSERT_EQ(asked, 1);
  Life second(spending.world, spending.options({}, 2));
  const auto report = second.resume(spending.world.sessions().front().id, TreeLimits{.steps = 1});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->reason, Reason::budget);
  EXPECT_EQ(spending.bank.requests, asked) << "the one step was used before";
}

TEST(BudgetOfATree, NothingIsAskedWithNothing) {
  Spending spending;
  const auto report = spending.go({.cost_micros = 0});
  ASSERT_TRUE(report);
  EXPECT_EQ(spending.bank.requests, 0);
  EXPECT_EQ(report->status, Status::partial);
  EXPECT_EQ(report->reason, Reason::budget);
  ASSERT_FALSE(report->errors.empty());
  EXPECT_THAT(report->errors.front().message,
              AllOf(HasSubstr("budget exhausted"), HasSubstr("$0.0000"), HasSubstr("--max-cost")));
}

TEST(BudgetOfATree, StepsAreCountedOverAllItsSessions) {
  for (const std::int64_t limit : {0, 1, 5, 9}) {
    Spending spending;
    ASSERT_TRUE(spending.go({.steps = limit}));
    EXPECT_LE(spending.bank.answers, limit);
    EXPECT_GE(spending.bank.answers, std::min<std::int64_t>(limit, 2)) << "what there is can be used";
  }
}

TEST(BudgetOfATree, AChildIsRefusedWhereItsFirstRequestHasNoRoom) {
  Spending spending;
  const auto report = spending.go({.steps = 1});
  ASSERT_TRUE(report);
  EXPECT_EQ(spending.world.sessions().size(), 1u);
  EXPECT_EQ(spending.bank.requests, 1);
  EXPECT_THAT(spending.told(), AllOf(HasSubstr("budget exhausted"), HasSubstr("--max-steps")));
  EXPECT_EQ(report->reason, Reason::budget) << "nor has the parent another step";
}

TEST(BudgetOfATree, AModelOfUnknownPriceIsRefusedUnderMaxCostAndUsedWithoutIt) {
  for (const bool is_capped : {true, false}) {
    Spending spending;
    const TreeLimits limits{.cost_micros = is_capped ? 1'000'000 : kUnlimited<std::int64_t>};
    Life life(spending.world, spending.options(limits, 1, {}, std::nullopt));
    const auto report = life.start(Spending::brief(life));
    ASSERT_TRUE(report);
    EXPECT_EQ(spending.bank.requests == 0, is_capped);
    if (is_capped) {
      EXPECT_THAT(report->errors.front().message,
                  AllOf(HasSubstr("price of priced/x is not known"), HasSubstr("--max-cost")));
    }
  }
}

TEST(BudgetOfATree, TheApprovalShowsWhatIsLeftWhereThereIsALimitAndAnEstimateElse) {
  struct Case {
    TreeLimits limits;
    const char* told;
  };
  for (const auto& [limits, told] : {Case{{.cost_micros = 5'000'000}, "at most $4.9"},
                                     Case{{.cost_micros = 5'000'000}, "is left of $5.0000"},
                                     Case{{.tokens = 1'000'000}, "tokens are left of 1,000,000"},
                                     Case{{.steps = 50}, "steps are left of 50"}, Case{{}, "(estimate)"}}) {
    Spending spending;
    std::string shown;
    Life::Options options = spending.options(limits);
    options.attendance = Attendance::person;
    Life life(spending.world, options);
    life.runtime().subscribe([&](const Event& event, const EventOrigin&) {
      if (const auto* asked = std::get_if<QuestionAsked>(&event.fact)) {
        shown = asked->question.text;
        life.loop().timers().call_at(
            life.loop().clock().now() + std::chrono::milliseconds(1),
            [&life, id = asked->question.id] { life.runtime().answer(id, {AnswerKind::refused, "no"}); });
      }
    });
    ASSERT_TRUE(life.start(Spending::brief(life)));
    EXPECT_THAT(shown, AllOf(HasSubstr("Spawn 4 subagents: [a] p"), HasSubstr("model priced/x"),
                             HasSubstr("risk medium"), HasSubstr(told)));
    EXPECT_EQ(shown.contains("(estimate)"), limits.cost_micros == kUnlimited<std::int64_t>);
    EXPECT_EQ(spending.world.sessions().size(), 1u);
  }
}

}  // namespace
}  // namespace deputy
