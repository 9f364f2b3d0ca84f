#include "delegation/system_prompt.h"

#include <gmock/gmock.h>

namespace deputy {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

Session child() {
  Session session;
  session.depth = 1;
  return session;
}

const ToolText kNote{"Note", "", ""};
const ToolText kTask{"task", "", ""};
const ToolText kCompletion{"task_completion", "", ""};

TEST(SystemPrompt, GuidesParentsOnlyWhereADelegationToolIsPresent) {
  const Profile profile{.name = "main", .instructions = "Be kind."};
  EXPECT_EQ(system_prompt(profile, {}, {kNote}), "Be kind.");
  EXPECT_THAT(system_prompt(profile, {}, {kTask}),
              AllOf(StartsWith("Be kind."), HasSubstr("# Delegating"), HasSubstr("Two to four"),
                    HasSubstr("does not overlap"), HasSubstr("shape of the answer"), HasSubstr("advice"),
                    HasSubstr("reconcile")));
}

TEST(SystemPrompt, TellsAChildWhatItIsItsLimitsItsScratchpadAndHowToReport) {
  Session session = child();
  session.max_turns = 20;
  session.timeout = std::chrono::seconds(3600);
  EXPECT_THAT(system_prompt({.name = "x", .instructions = "I"}, session, {kNote, kCompletion}),
              AllOf(StartsWith("I"), HasSubstr("You are a subagent"), HasSubstr("20 steps and 1h"),
                    HasSubstr("scratchpad"), HasSubstr("Note tool"), HasSubstr("call task_completion"),
                    Not(HasSubstr("# Delegating"))));
}

TEST(SystemPrompt, SpeaksOfNoToolThatIsNotThere) {
  EXPECT_THAT(system_prompt({.name = "x"}, child(), {}),
              AllOf(Not(HasSubstr("Note")), Not(HasSubstr("task_completion")), HasSubstr("plain text"),
                    HasSubstr("context window")));
}

TEST(SystemPrompt, SaysThatAReportIsDemanded) {
  EXPECT_THAT(system_prompt({.name = "x", .returns = Returns::report}, child(), {kCompletion}),
              HasSubstr("plain text is not taken"));
  EXPECT_THAT(system_prompt({.name = "x", .output_schema = "{}"}, child(), {kCompletion}),
              HasSubstr("plain text is not taken"));
}

}  // namespace
}  // namespace deputy
