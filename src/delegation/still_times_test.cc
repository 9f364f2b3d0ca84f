#include "delegation/still_times.h"

#include <gtest/gtest.h>

#include "delegation/session_event.h"

namespace deputy {
namespace {

using std::chrono::minutes;

Session session_of(const std::string& id, const std::string& parent) {
  Session session;
  session.id = SessionId(id);
  session.tree = SessionId("root");
  if (!parent.empty()) session.parent = SessionId(parent);
  return session;
}

// What was recorded of a root, its child, that one's own, and another child beside it.
class StillSince : public ::testing::Test {
 protected:
  StillSince() {
    for (const Session* session : {&root_, &child_, &grandchild_, &other_}) {
      add(0, *session, SessionCreated{*session});
      add(0, *session, RunStarted{});
    }
  }
  void add(int minute, const Session& session, Fact fact) {
    events_.push_back(event_of(session, std::move(fact)));
    events_.back().at = WallTime{minutes(minute)};
  }
  void ask(int minute, const Session& session) {
    add(minute, session, QuestionAsked{{.id = "q", .asker = session.id}});
  }
  void work(int minute, const Session& session) { add(minute, session, StateChanged{}); }
  std::int64_t of(const Session& session) const {
    return still_since(events_).at(session.id).time_since_epoch() / minutes(1);
  }

  Session root_ = session_of("root", "");
  Session child_ = session_of("child", "root");
  Session grandchild_ = session_of("grandchild", "child");
  Session other_ = session_of("other", "root");
  std::vector<Event> events_;
};

TEST_F(StillSince, IsTheLastRecordOfTheTreeWhereNobodyIsAsked) {
  work(7, other_);
  for (const Session& session : {root_, child_, grandchild_, other_}) EXPECT_EQ(of(session), 7);
}

TEST_F(StillSince, IsTheQuestionForWhoAsksAPersonAndForAllAboveAndForNoOthers) {
  work(1, grandchild_);
  ask(2, child_);
  work(7, other_);
  EXPECT_EQ(of(child_), 2);
  EXPECT_EQ(of(root_), 2);
  EXPECT_EQ(of(grandchild_), 7);
  EXPECT_EQ(of(other_), 7);
}

TEST_F(StillSince, IsNoQuestionThatWasAnswered) {
  ask(2, grandchild_);
  add(3, grandchild_, QuestionAnswered{"q", {}});
  work(7, other_);
  for (const Session& session : {root_, child_, grandchild_}) EXPECT_EQ(of(session), 7);
}

TEST_F(StillSince, IsTheFirstOfTwoQuestionsForWhoIsAboveBoth) {
  ask(2, grandchild_);
  ask(4, other_);
  work(5, grandchild_);
  work(7, grandchild_);
  EXPECT_EQ(of(grandchild_), 7);
  EXPECT_EQ(of(child_), 7);
  EXPECT_EQ(of(other_), 4);
  EXPECT_EQ(of(root_), 2);
}

TEST_F(StillSince, IsNotBeforeItsDeadlineWasMoved) {
  ask(2, child_);
  add(4, child_, DeadlineMoved{});
  work(7, other_);
  EXPECT_EQ(of(child_), 4) << "and it asks still";
  EXPECT_EQ(of(root_), 2);
}

TEST_F(StillSince, IsWhenItWasLeftFirstForWhomNoProcessHasGoneOnWithSince) {
  work(7, other_);
  add(60, root_, TakenUp{});
  add(60, root_, DeadlineMoved{});
  add(61, child_, StateChanged{.state = SessionState::waiting, .waits_for = std::string(kPlace)});
  add(62, other_, DeadlineMoved{});
  add(63, grandchild_, Nudged{});
  EXPECT_EQ(of(root_), 63);
  EXPECT_EQ(of(other_), 63);
  EXPECT_EQ(of(child_), 7) << "it was in line";
  EXPECT_EQ(of(grandchild_), 7);
  add(90, root_, TakenUp{});
  EXPECT_EQ(of(root_), 63);
  EXPECT_EQ(of(child_), 7);
}

TEST_F(StillSince, IsNotTheQuestionOfALifeBeforeForWhoWasGoneOnWith) {
  ask(2, child_);
  add(60, root_, TakenUp{});
  add(60, root_, DeadlineMoved{});
  work(65, other_);
  EXPECT_EQ(of(root_), 65);
  EXPECT_EQ(of(child_), 2);
  add(66, child_, DeadlineMoved{});
  ask(66, child_);
  work(70, other_);
  EXPECT_EQ(of(root_), 66);
}

TEST_F(StillSince, IsBeforeWhatWasReservedByAProcessThatGoesOn) {
  work(7, other_);
  add(60, child_, BudgetReserved{});
  EXPECT_EQ(of(child_), 7);
  add(60, root_, TakenUp{});
  EXPECT_EQ(of(child_), 7);
}

}  // namespace
}  // namespace deputy
