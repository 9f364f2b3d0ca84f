#include "delegation/command_outcome.h"

#include <gtest/gtest.h>

namespace deputy {
namespace {

Report judged(int tasks, const std::vector<SessionState>& states) {
  Session command;
  command.prompt = R"({"tool":"Delegate","arguments":{"tasks":[)";
  for (int i = 0; i < tasks; ++i) command.prompt += i == 0 ? "{}" : ",{}";
  command.prompt += "]}}";
  std::vector<Session> children;
  for (const auto state : states) {
    Session child;
    child.state = state;
    child.reason = state == SessionState::completed ? Reason::none : Reason::provider_error;
    children.push_back(child);
  }
  return judged_by_children(Report{}, command, children);
}

TEST(CommandOutcome, FollowsItsChildren) {
  using enum SessionState;
  EXPECT_EQ(judged(2, {completed, completed}).status, Status::completed);
  EXPECT_EQ(judged(2, {completed, failed}).status, Status::partial);
  EXPECT_EQ(judged(2, {blocked, failed}).status, Status::partial);
  EXPECT_EQ(judged(2, {failed, cancelled}).status, Status::failed);
  EXPECT_EQ(judged(2, {cancelled, cancelled}).status, Status::cancelled);
  EXPECT_EQ(judged(2, {failed, failed}).reason, Reason::provider_error);
}

TEST(CommandOutcome, AChildThatNeverCameToBeCountsAsFailed) {
  EXPECT_EQ(judged(2, {SessionState::completed}).status, Status::partial);
  EXPECT_EQ(judged(2, {}).status, Status::failed);
}

TEST(CommandOutcome, AnEndOfItsOwnStands) {
  Report cancelled;
  cancelled.status = Status::cancelled;
  EXPECT_EQ(judged_by_children(cancelled, {}, {}).status, Status::cancelled);
}

}  // namespace
}  // namespace deputy
