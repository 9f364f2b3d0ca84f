// What a parent can rely on when it calls: calls of one reply at once, what counts against the limits, who
// asks, what the last result carries.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>

#include "a_child.h"
#include "support/dialogue_world.h"

namespace deputy {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using namespace std::chrono_literals;

TEST(OneReply, SeveralDelegationCallsOfItRunConcurrently) {
  for (const auto& [tool, prompt] : {std::pair("task", "prompt"), std::pair("spawn_subagent", "task")}) {
    DialogueWorld world([tool, prompt](const Scene& scene) -> Act {
      if (scene.depth > 0) return {.text = "found", .after = 100s};
      if (scene.step > 0) return {.text = "over"};
      const Call look = call_of(tool, fmt::format(R"({{"agent":"explore","{}":"look"}})", prompt));
      return {.calls = {look, look, look}};
    });
    const auto report = world.run();
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_EQ(world.sessions().size(), 4u);
    EXPECT_GE(report->duration, 100s);
    EXPECT_LT(report->duration, 101s) << "none waited for another";
  }
}

// A child in the background, one that is resumed, and one too many.
TEST(LimitOnDelegations, CountsResumedAndBackgroundChildrenToo) {
  for (const int limit : {2, 3}) {
    DialogueWorld world([](const Scene& scene) -> Act {
      if (scene.depth > 0) return {.text = "found"};
      const auto resume = [&scene] {
        return call_of("task", fmt::format(R"({{"resume":"{}","prompt":"go on"}})", scene.value_of("id: ")));
      };
      switch (scene.step) {
        case 0:
          return {
              .calls = {call_of("task", R"({"agent":"explore","prompt":"look","run_in_background":true})")}};
        case 1:
          return {.calls = {call_of("task_status", fmt::format(R"({{"id":"{}","wait_seconds":60}})",
                                                               scene.value_of("id: ")))}};
        case 2:
        case 3:
          return {.calls = {resume()}};
        default:
          return {.text = "over"};
      }
    });
    world.options.limits.delegations = limit;
    ASSERT_TRUE(world.run());
    EXPECT_EQ(world.sessions().size(), 2u);
    EXPECT_EQ(world.child("explore").run, limit) << "one in the background, the others resumed";
    EXPECT_EQ(used_by(world.world.memory->journal).delegations, limit);
    const bool was_refused = world.results_of("task").back().contains("budget exhausted");
    EXPECT_EQ(was_refused, limit == 2) << world.results_of("task").back();
  }
}

// Two runs of one child and a third in the background, with one place: never more than one at once.
TEST(LimitOnLiveChildren, CountsResumedAndBackgroundChildrenToo) {
  DialogueWorld world([](const Scene& scene) -> Act {
    if (scene.depth > 0) return {.text = "found", .after = 10s};
    if (scene.step == 0) return {.calls = {call_of("task", R"({"agent":"explore","prompt":"look"})")}};
    if (scene.step > 1) return {.text = "over"};
    return {.calls = {call_of("task", R"({"agent":"general","prompt":"look","run_in_background":true})"),
                      call_of("task", fmt::format(R"({{"resume":"{}","prompt":"go on"}})",
                                                  scene.value_of("Session: ")))}};
  });
  world.options.limits.live_children = 1;
  std::vector<WallTime> replies;
  world.on_event = [&](Runtime&, const Event& event) {
    const bool is_child = event.run.session != world.sessions().front().id;
    if (is_child && std::holds_alternative<ReplyReceived>(event.fact)) replies.push_back(event.at);
  };
  ASSERT_TRUE(world.run());
  ASSERT_EQ(replies.size(), 3u);
  EXPECT_EQ(replies[1] - replies[0], 10s);
  EXPECT_EQ(replies[2] - replies[1], 10s) << "two thought at once";
  EXPECT_EQ(world.child("explore").run, 2);
  EXPECT_EQ(world.child("general").state, SessionState::completed);
}

Act child_writes(const Scene& scene) {
  if (scene.step > 0) return {.text = "over"};
  if (scene.depth > 0) return {.calls = {call_of("Write", R"({"file_path":"b.txt","content":"x"})")}};
  return {.calls = {call_of("task", R"({"agent":"general","prompt":"write"})")}};
}

TEST(AnAskOfAChild, IsPutToThePersonAndNamesTheChild) {
  DialogueWorld world(child_writes);
  world.options.attendance = Attendance::person;
  std::vector<Question> asked;
  world.on_question = [&asked](Runtime& runtime, const Question& question) {
    asked.push_back(question);
    runtime.answer(question.id, {AnswerKind::approved, ""});
  };
  ASSERT_TRUE(world.run());
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_EQ(asked[0].kind, QuestionKind::permission);
  EXPECT_EQ(asked[0].asker, world.child("general").id);
  EXPECT_EQ(asked[0].label, "general");
  EXPECT_EQ(asked[0].agent, "general");
  EXPECT_THAT(asked[0].text, HasSubstr("b.txt"));
  EXPECT_EQ(world.world.disk.files().at("/work/b.txt"), "x");
}

TEST(AnAskOfAChild, IsDeniedWithThatReasonWhereNobodyIsThere) {
  DialogueWorld world(child_writes);
  world.options.attendance = Attendance::nobody;
  ASSERT_TRUE(world.run());
  const auto told = world.facts<CallFinished>();
  ASSERT_FALSE(told.empty());
  EXPECT_THAT(told[0].result.content, HasSubstr("needs approval, and nobody is there"));
  EXPECT_FALSE(world.world.disk.files().contains("/work/b.txt"));
  const auto answers = world.facts<QuestionAnswered>();
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers[0].answer.kind, AnswerKind::nobody);
}

TEST(TheLastResultOfADialogue, CarriesReportDurationAndNumberOfQuestions) {
  DialogueWorld world([](const Scene& scene) -> Act {
    if (scene.depth > 0) {
      if (scene.step < 2) return {.calls = {call_of("ask_parent", R"({"question":"Which?"})")}, .after = 10s};
      return {.text = "It is the red one.", .after = 44s};
    }
    if (scene.step == 0)
      return {.calls = {call_of("spawn_subagent", R"({"agent":"explore","task":"look"})")}};
    if (scene.is_told("state: question"))
      return {.calls = {call_of(
                  "answer_subagent",
                  fmt::format(R"({{"question_id":"{}","answer":"red"}})",
                              scene.value_of("question_id: ", scene.times_heard("state: question") - 1)))}};
    return {.text = "over"};
  });
  ASSERT_TRUE(world.run());
  const auto told = world.results_of("answer_subagent");
  ASSERT_EQ(told.size(), 2u);
  EXPECT_THAT(told[1],
              AllOf(HasSubstr("## Subagent Result (explore)"), HasSubstr("Status: completed"),
                    HasSubstr("It is the red one."), HasSubstr("\n\nDuration: 1m 04s. Questions: 2.")));
}

TEST_F(AChild, TheTaskToolsTakeTheIdOfABackgroundBashToo) {
  program_takes = 1h;
  replies({call("Bash", R"({"command":"make serve","run_in_background":true})"),
           call("task_status", R"({"id":"bash_0_0","wait_seconds":5})"), call("task_status", "{}"),
           call("task_cancel", R"({"id":"bash_0_0"})"), R"({"text":"served"})"});
  EXPECT_EQ(run().status, Status::completed);
  EXPECT_THAT(child_told(0), HasSubstr("bash_0_0"));
  EXPECT_THAT(child_told(1), AllOf(HasSubstr("bash_0_0"), HasSubstr("make serve")));
  EXPECT_THAT(child_told(2), HasSubstr("bash_0_0"));
  EXPECT_THAT(child_told(3), HasSubstr("bash_0_0 was ended"));
}

TEST_F(AChild, WithoutASummaryItIsTheFirst500CharactersOfTheBody) {
  for (const int length : {500, 501}) {
    world = SimWorld();
    std::string body;
    for (int i = 0; i < length; ++i) body += i < 400 ? "ä" : "b";
    replies({fmt::format(R"({{"text":"{}"}})", body)});
    const Report report = run();
    EXPECT_EQ(report.body, body);
    EXPECT_EQ(utf8_length(report.summary), 500u);
    EXPECT_TRUE(body.starts_with(report.summary.substr(0, 400 * 2 + 99)));
  }
}

}  // namespace
}  // namespace deputy
