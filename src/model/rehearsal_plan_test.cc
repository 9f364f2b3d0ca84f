#include "model/rehearsal_plan.h"

#include <gmock/gmock.h>

namespace deputy {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

TEST(RehearsalPlan, KnowsTheThreeBriefsOfTheDemo) {
  const auto tasks = demo_tasks();
  ASSERT_EQ(tasks.size(), 3U);
  EXPECT_EQ(plan_for(tasks[0].prompt), (Plan{Inquiry::survey, {}, {}}));
  EXPECT_EQ(plan_for(tasks[1].prompt), (Plan{Inquiry::unfinished, {}, {}}));
  EXPECT_EQ(plan_for(tasks[2].prompt), (Plan{Inquiry::risky, {}, {}}));
  for (const auto& task : tasks) EXPECT_LE(task.label.size(), 32U);
}

TEST(RehearsalPlan, FollowsCuesInOrdinaryWords) {
  EXPECT_EQ(plan_for("Give me an overview of this codebase.").inquiry, Inquiry::survey);
  EXPECT_EQ(plan_for("Which parts are incomplete? List every TODO.").inquiry, Inquiry::unfinished);
  EXPECT_EQ(plan_for("Look for security vulnerabilities").inquiry, Inquiry::risky);
  EXPECT_EQ(plan_for("").inquiry, Inquiry::survey);
  EXPECT_EQ(plan_for("do it").inquiry, Inquiry::survey);
}

TEST(RehearsalPlan, QuotedWordsComeFirstThenIdentifiersThenTheRest) {
  const Plan plan =
      plan_for("Explain where cancellation meets `StopToken` and how sleep_until is told by \"the loop\".");
  EXPECT_EQ(plan.inquiry, Inquiry::mentions);
  EXPECT_THAT(plan.terms, ElementsAre("StopToken", "the loop", "sleep_until", "cancellation"));
}

TEST(RehearsalPlan, LeavesOutStopWordsAndShortOnes) {
  const Plan plan = plan_for("Please find out where the budget is kept in all of these files and report it");
  EXPECT_THAT(plan.terms, ElementsAre("budget", "kept"));
}

TEST(RehearsalPlan, NoticesFilesByTheirNames) {
  const Plan plan = plan_for(
      "Compare src/async/loop.h with ./README, e.g. its part on v1.2; not https://example.org/a.html or "
      "/etc/passwd.d.");
  EXPECT_THAT(plan.files, ElementsAre("src/async/loop.h", "README"));
  EXPECT_THAT(plan.terms, Not(Contains("async")));
}

TEST(RehearsalPlan, TheTaskStandsBehindItsContext) {
  const std::string context = "=== docs/notes.md ===\n" + std::string(10'000, 'x') + "\n`Wrong` overview\n\n";
  const Plan plan = plan_for(context + "Where is `Right` used?");
  EXPECT_EQ(plan, (Plan{Inquiry::mentions, {"Right"}, {"docs/notes.md"}}));
  EXPECT_EQ(plan_for("```\n`Wrong` overview\n```\nWhere is `Right` used?").terms,
            std::vector<std::string>{"Right"});
}

TEST(RehearsalPlan, ARootHandsDownWhatIsGeneralOrAskedToBe) {
  const auto general = tasks_for("What does this project do?");
  ASSERT_EQ(general.size(), 3U);
  const auto asked = tasks_for("In parallel, find where `Budget` is checked");
  ASSERT_EQ(asked.size(), 3U);
  EXPECT_EQ(asked[2].label, "mentions");
  EXPECT_THAT(plan_for(asked[2].prompt).terms, Contains("Budget"));
  EXPECT_THAT(tasks_for("Where is `Budget` checked?"), IsEmpty());
  EXPECT_THAT(tasks_for("What is in src/main.cc?"), IsEmpty());
}

TEST(RehearsalPlan, ThePatternMeansTheTermsAsTheyStand) {
  EXPECT_EQ(pattern_for({"a.b(c)", "x|y", "plain_name", "->f"}), R"(\ba\.b\(c\)|\bx\|y|\bplain_name|->f)");
}

}  // namespace
}  // namespace deputy
