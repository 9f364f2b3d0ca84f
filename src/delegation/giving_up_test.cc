#include "delegation/giving_up.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <span>

#include "async/sim_loop.h"
#include "delegation/session_event.h"
#include "store/memory_store.h"
#include "support/crashing_store.h"
#include "support/run.h"
#include "tools/lost_commands.h"

namespace deputy {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

Session session_of(const std::string& id, int depth) {
  Session session;
  session.id = SessionId(id);
  session.tree = SessionId("root");
  session.agent = "main";
  session.depth = depth;
  if (depth > 0) session.parent = SessionId("root");
  return session;
}

// A process began a root and its child and died.
class GivingUp : public ::testing::Test {
 protected:
  GivingUp() {
    MemoryStore store(loop_, memory_);
    EXPECT_TRUE(store.claim(root_.id));
    std::vector<Event> events;
    for (const Session& session : {root_, child_}) {
      events.push_back(event_of(session, SessionCreated{session}));
      events.push_back(event_of(session, RunStarted{}));
      events.push_back(event_of(session, InputGiven{Source::person, "look"}));
    }
    events.push_back(event_of(child_, NoteTaken{"half way"}));
    EXPECT_TRUE(run(loop_, store.record(std::move(events))));
    store.release(root_.id);
  }
  // Whose runs ended, in order.
  std::vector<std::string> ended() const {
    std::vector<std::string> ids;
    for (const Event& event : memory_->journal) {
      if (std::holds_alternative<RunEnded>(event.fact)) ids.push_back(event.run.session.value);
    }
    return ids;
  }
  Result<void> give_up_with(Store& store) { return run(loop_, give_up(store, root_.id, WallTime{})); }

  Session root_ = session_of("root", 0);
  Session child_ = session_of("child", 1);
  SimLoop loop_{1};
  std::shared_ptr<MemoryStore::Memory> memory_ = std::make_shared<MemoryStore::Memory>();
};

TEST_F(GivingUp, EndsAllThatIsUnfinishedChildrenFirstAndKeepsWhatWasFound) {
  MemoryStore store(loop_, memory_);
  ASSERT_TRUE(give_up_with(store));
  EXPECT_THAT(ended(), ElementsAre("child", "root"));
  for (const auto* id : {"root", "child"}) {
    const auto session = store.session(SessionId(id));
    ASSERT_TRUE(session && *session);
    EXPECT_EQ((*session)->state, SessionState::cancelled) << id;
    EXPECT_EQ((*session)->reason, Reason::cancelled_by_user) << id;
  }
  EXPECT_THAT((*store.session(child_.id))->result, HasSubstr("half way"));
  const auto holder = store.holder(root_.id);
  EXPECT_TRUE(holder && !*holder) << "others may take it up";
}

TEST_F(GivingUp, IsOnRecordBeforeTheEndsThatItMakesAndWithThem) {
  MemoryStore store(loop_, memory_);
  const std::size_t before = memory_->journal.size();
  ASSERT_TRUE(give_up_with(store));
  EXPECT_EQ(store.counts().commits, 1u);
  std::vector<std::pair<SessionId, std::string_view>> recorded;
  for (const Event& event : std::span(memory_->journal).subspan(before))
    recorded.emplace_back(event.run.session, kind_of(event.fact));
  EXPECT_THAT(recorded,
              ElementsAre(Pair(root_.id, "taken_up"), Pair(child_.id, "ended"), Pair(root_.id, "ended")));
}

TEST_F(GivingUp, EndsNothingTwice) {
  MemoryStore store(loop_, memory_);
  ASSERT_TRUE(give_up_with(store));
  const std::size_t recorded = memory_->journal.size();
  ASSERT_TRUE(give_up_with(store));
  EXPECT_THAT(ended(), ElementsAre("child", "root"));
  EXPECT_EQ(memory_->journal.size(), recorded);
}

TEST_F(GivingUp, SkipsASessionThatIsListedAsUnfinishedAlthoughItsRunHasEnded) {
  MemoryStore store(loop_, memory_);
  ASSERT_TRUE(give_up_with(store));
  memory_->sessions.at(child_.id).state = SessionState::running;
  const auto again = give_up_with(store);
  EXPECT_TRUE(again) << again.error().message;
  EXPECT_THAT(ended(), ElementsAre("child", "root"));
}

TEST_F(GivingUp, LeavesItsCommandsInTheBackgroundToBeToldOfInTheNextRun) {
  MemoryStore store(loop_, memory_);
  ASSERT_TRUE(store.claim(root_.id));
  ReplyReceived reply;
  reply.reply.message.calls.push_back({"c", "Bash", R"({"command":"make serve","run_in_background":true})"});
  Event finished = event_of(root_, CallFinished{});
  finished.call = 0;
  ASSERT_TRUE(run(loop_, store.record({event_of(root_, reply), finished})));
  ASSERT_TRUE(give_up_with(store));
  const auto events = store.events_of_session(root_.id);
  ASSERT_TRUE(events);
  EXPECT_EQ(lost_commands(*events).size(), 1u);
}

class UnlistableStore final : public CrashingStore {
 public:
  using CrashingStore::CrashingStore;
  Result<std::vector<Session>> sessions(const SessionFilter&) const override {
    return fail(ErrorCode::io, "the disk gives nothing");
  }
};

TEST_F(GivingUp, HoldsNothingAfterItHasFailed) {
  UnlistableStore store(std::make_unique<MemoryStore>(loop_, memory_), {});
  const auto failed = give_up_with(store);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ErrorCode::io);
  const auto holder = store.holder(root_.id);
  EXPECT_TRUE(holder && !*holder) << "others may take it up";
}

TEST_F(GivingUp, LeavesWhatSomebodyRuns) {
  MemoryStore holder(loop_, memory_);
  ASSERT_TRUE(holder.claim(root_.id));
  MemoryStore store(loop_, memory_);
  const auto refused = give_up_with(store);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::busy);
  EXPECT_THAT(ended(), ElementsAre());
}

}  // namespace
}  // namespace deputy
