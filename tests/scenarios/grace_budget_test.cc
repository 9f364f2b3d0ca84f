// The last step of a child whose tree has run out of money: it was kept back for, it is used to report, and
// nothing is spent beyond the limit.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>

#include "delegation/budgeted_provider.h"
#include "support/acting_model.h"
#include "support/priced_model.h"
#include "support/sim_world.h"

namespace deputy {
namespace {

using ::testing::HasSubstr;

class GraceUnderABudget : public testing::Test {
 protected:
  // A parent with one child, which does `work` until it is told that this is its last step.
  Result<Report> go(TreeLimits limits, std::function<Act(const Scene&)> work) {
    world_ = {};
    world_.script = R"({"v":1,"sessions":[{"replies":[{"text":"never asked"}]}]})";
    world_.write_file("a.txt", std::string(2000, 'x') + "\n");
    bank_ = {};
    const auto play = [work](const Scene& scene) -> Act {
      if (scene.depth == 0 && scene.step == 0)
        return {.calls = {call_of("task", R"({"agent":"general","prompt":"go"})")}};
      if (scene.depth == 0) return {.text = "over"};
      if (scene.is_told("This is your last step"))
        return {.calls = {
                    call_of("task_completion",
                            R"({"status":"completed","summary":"as far as I came","body":"what I found"})")}};
      return work(scene);
    };
    Life life(world_, {.limits = limits, .model = [this, play](Loop& loop) {
                         return std::make_unique<PricedModel>(std::make_unique<ActingModel>(loop, play),
                                                              bank_, PricedModel::kPrice);
                       }});
    RootBrief root = life.brief("go");
    root.model = ModelName("priced/x");
    return life.start(std::move(root));
  }
  // What the child's run ended with; nothing where it was never admitted.
  std::optional<Report> child() const {
    for (const auto& event : world_.memory->journal) {
      const auto* ended = std::get_if<RunEnded>(&event.fact);
      if (ended && ended->report->depth == 1) return *ended->report;
    }
    return std::nullopt;
  }
  long last_steps() const {
    return std::ranges::count_if(world_.memory->journal, [](const Event& event) {
      const auto* input = std::get_if<InputGiven>(&event.fact);
      return input && input->about == Reason::budget;
    });
  }

  SimWorld world_;
  Bank bank_;
};

// Another file each time: the same call over and over would end it before the money does.
Act reads_on(const Scene& scene) {
  return {.calls = {call_of("Read", fmt::format(R"({{"file_path":"a.txt","limit":{}}})", scene.step + 1))}};
}

TEST_F(GraceUnderABudget, ACostLimitLeavesOneStepToReportIn) {
  int reported = 0;
  for (std::int64_t limit = 20'000; limit <= 200'000 && !HasFailure(); limit += 10'000) {
    ASSERT_TRUE(go({.cost_micros = limit}, reads_on));
    EXPECT_LE(bank_.micros, limit);
    const auto report = child();
    if (!report || report->reason != Reason::budget || report->steps < 2) continue;
    EXPECT_EQ(last_steps(), 1) << limit;
    EXPECT_EQ(report->status, Status::partial) << "whatever it says itself";
    EXPECT_EQ(report->summary, "as far as I came") << limit;
    EXPECT_EQ(report->body, "what I found") << limit;
    reported += 1;
  }
  EXPECT_GT(reported, 0) << "no child came to the limit: this proves nothing";
}

TEST_F(GraceUnderABudget, SoDoesALimitOnTheStepsOfTheTree) {
  ASSERT_TRUE(go({.steps = 6}, reads_on));
  EXPECT_LE(bank_.answers, 6);
  ASSERT_TRUE(child());
  EXPECT_EQ(child()->reason, Reason::budget);
  EXPECT_EQ(child()->body, "what I found");
  EXPECT_EQ(last_steps(), 1);
  ASSERT_TRUE(world_.session_labelled("general"));
  EXPECT_EQ(world_.session_labelled("general")->steps, child()->steps) << "the request without room is none";
}

TEST_F(GraceUnderABudget, WhereAChildHasRoomForOneStepItIsTheFirstAndThereIsNoLast) {
  ASSERT_TRUE(go({.steps = 3}, reads_on));  // its parent's two, and one
  EXPECT_EQ(bank_.answers, 3);
  ASSERT_TRUE(child());
  EXPECT_EQ(child()->status, Status::partial);
  EXPECT_EQ(child()->reason, Reason::budget);
  EXPECT_NE(child()->body, "what I found");
  ASSERT_TRUE(go({.steps = 4}, reads_on));
  EXPECT_EQ(bank_.answers, 4);
  ASSERT_TRUE(child());
  EXPECT_EQ(child()->body, "what I found") << "one more leaves a last one";
}

TEST_F(GraceUnderABudget, AnAnswerCutOffByALoweredOutputCapIsFollowedByTheLastStep) {
  const auto talks_long = [](const Scene&) { return Act{.text = std::string(4 * 3000, 'w')}; };
  int reported = 0;
  for (std::int64_t limit = 20'000; limit <= 200'000 && !HasFailure(); limit += 5'000) {
    ASSERT_TRUE(go({.cost_micros = limit}, talks_long));
    EXPECT_LE(bank_.micros, limit);
    const auto report = child();
    const bool is_lowered = std::ranges::any_of(bank_.caps, [](int cap) { return cap < 3000; });
    if (!report || !is_lowered || report->reason != Reason::budget || last_steps() == 0) continue;
    EXPECT_EQ(report->status, Status::partial);
    if (report->steps < 2) continue;  // there was no room for the last step
    EXPECT_EQ(report->body, "what I found") << limit;
    EXPECT_THAT(report->errors.front().message, HasSubstr("cut off")) << limit;
    reported += 1;
  }
  EXPECT_GT(reported, 0) << "no answer was cut off: this proves nothing";
}

// What was summed up was said all the same: the step that comes next is no first one.
TEST(GraceAfterACompaction, TheLastStepIsStillKeptBack) {
  const std::vector<Message> told{{.role = Role::user, .text = "what was said before, in short"}};
  SimLoop loop(1);
  MemoryStore store(loop, std::make_shared<MemoryStore::Memory>());
  Deadlines deadlines(loop, [](const SessionId&) {});
  const OwnJournal journal(store, deadlines, SessionId("sess_1_child"));
  for (const int replies_before : {0, 5}) {
    Bank bank;
    PricedModel model(nullptr, bank, PricedModel::kPrice);  // it is not asked
    Budget budget({.steps = 1});
    BudgetedProvider provider({.inner = model, .budget = budget, .journal = journal, .first = {}});
    Request request;
    request.prefix = std::make_shared<RequestPrefix>();
    request.messages = told;
    request.depth = 1;
    request.replies_before = replies_before;
    EXPECT_EQ(provider.before(request).empty(), replies_before > 0)
        << "a first step takes the room of the last";
    if (replies_before == 0) continue;
    EXPECT_EQ(budget.held().steps, 1);
    request.is_last = true;
    EXPECT_FALSE(provider.before(request).empty()) << "to report in";
  }
}

}  // namespace
}  // namespace deputy
