// Reports that mail follows: what was handed in stays, and what comes after adds to it.
#include <gtest/gtest.h>

#include "agent/a_run.h"

namespace deputy {
namespace {

TEST_F(ARun, WithAReportInHandIsNotPartialForAStepLimitThatLeavesMailUnread) {
  completes(kGood);
  const auto next_with = [this](int max_turns, MailState mail) {
    limits.max_turns = max_turns;
    return decide(conversation, limits, StopReason::none, mail);
  };
  EXPECT_TRUE(std::holds_alternative<TakeMail>(next_with(2, MailState::here))) << "there is a step left";
  for (const auto mail : {MailState::here, MailState::expected}) {
    const Next next = next_with(1, mail);
    ASSERT_TRUE(std::holds_alternative<Finish>(next));
    EXPECT_EQ(std::get<Finish>(next), Finish{});
  }
}

TEST_F(ARun, KeepsTheReportThatItHadHandedInWhereMailFollowedAndItCameToNoOther) {
  apply_fact(NoteTaken{"a note"});
  completes(kGood);
  apply_fact(Delivered{"nudge/1", Source::person, "and b?"});
  EXPECT_TRUE(asks());
  apply_fact(RequestStopped{{}, "b is"});
  const Report stopped = report_of(conversation, session, finish(StopReason::user), {});
  EXPECT_EQ(stopped.body, "a note\n\nthe whole story\n\nb is");
  EXPECT_EQ(stopped.summary, "all done");
  EXPECT_EQ(stopped.artifacts.size(), 1u);
  EXPECT_EQ(stopped.next_steps, std::vector<std::string>{"merge it"});
  says("both, then");
  EXPECT_EQ(report().body, "the whole story\n\nb is\n\nboth, then") << "plain words add to it";
  EXPECT_EQ(report().artifacts.size(), 1u);
  apply_fact(RunStarted{});
  reply(ReplyStop::failed, "");
  EXPECT_EQ(report().body, "a note") << "that report was another run's";
  EXPECT_TRUE(report().artifacts.empty());
}

TEST_F(ARun, WhoseReportAfterMailIsNotValidKeepsTheFormerOneAndHadItsCorrectionsAgain) {
  for (int refused = 1; refused <= 2; ++refused) calls("task_completion", "{}", ToolStatus::error, "no");
  completes(kGood);
  apply_fact(Delivered{"nudge/1", Source::person, "and b?"});
  for (const auto* tried : {"1", "2"}) {
    calls("task_completion", tried, ToolStatus::error, "no");
    EXPECT_TRUE(asks()) << tried;
  }
  calls("task_completion", "3", ToolStatus::error, "no");
  EXPECT_EQ(finish().reason, Reason::invalid_report);
  EXPECT_EQ(report().body, "the whole story\n\n3");
  EXPECT_EQ(report().summary, "all done");
  EXPECT_EQ(report().artifacts.size(), 1u);
}

TEST_F(ARun, ThatReportedNoSuccessHasNoneByPlainTextAfterMail) {
  for (const auto& [word, status] :
       {std::pair("partial", Status::partial), std::pair("blocked", Status::blocked),
        std::pair("failed", Status::failed)}) {
    conversation = {};
    completes(R"({"status":")" + std::string(word) +
              R"(","summary":"s","body":"the story","errors":[{"type":"t","message":"m"}],
                  "artifacts":[{"path":"a.txt","kind":"file","description":"d"}]})");
    apply_fact(Delivered{"nudge/1", Source::person, "well done so far"});
    says("ok");
    EXPECT_EQ(report().status, status);
    EXPECT_EQ(report().reason, Reason::reported) << word;
    EXPECT_EQ(report().body, "the story\n\nok") << word;
    ASSERT_EQ(report().errors.size(), 1u) << word;
    EXPECT_EQ(report().errors.front().message, "m") << word;
    EXPECT_EQ(report().artifacts.size(), 1u) << word;
  }
}

}  // namespace
}  // namespace deputy
