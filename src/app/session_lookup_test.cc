#include "app/session_lookup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "async/sim_loop.h"
#include "store/memory_store.h"
#include "support/run.h"

namespace deputy {
namespace {

using ::testing::HasSubstr;

class FindSessionTest : public ::testing::Test {
 protected:
  void put(const std::string& id) {
    Session session;
    session.id = SessionId(id);
    memory_->sessions[session.id] = session;
  }
  std::string found(const std::string& typed) {
    const auto session = find_session(store_, typed);
    return session ? session->id.value : session.error().message + "; " + session.error().advice;
  }
  SimLoop loop_{1};
  std::shared_ptr<MemoryStore::Memory> memory_ = std::make_shared<MemoryStore::Memory>();
  MemoryStore store_{loop_, memory_};
};

TEST_F(FindSessionTest, ByItsIdOrABeginningThatFitsNoOther) {
  put("sess_1800000000_abc123");
  put("sess_1800000000_abd456");
  put("sess_1900000000_xyz789");
  EXPECT_EQ(found("sess_1800000000_abc123"), "sess_1800000000_abc123");
  EXPECT_EQ(found("sess_19"), "sess_1900000000_xyz789");
  EXPECT_EQ(found("sess_1800000000_abd"), "sess_1800000000_abd456");
}

TEST_F(FindSessionTest, NewestIsTheRootThatWasStartedLast) {
  EXPECT_THAT(found("newest"), HasSubstr("there is no session yet; run something first: `deputy demo`"));
  EXPECT_EQ(session_typed(store_, "newest").error().status, ExitStatus::usage);
  for (const auto& [id, seconds] : {std::pair("sess_1800000000_abc123", 1'800'000'000),
                                    std::pair("sess_1900000000_abd456", 1'900'000'000),
                                    std::pair("sess_1850000000_xyz789", 1'850'000'000)}) {
    put(id);
    memory_->sessions[SessionId(id)].created_at = WallTime{std::chrono::seconds(seconds)};
  }
  Session child;
  child.id = SessionId("sess_2000000000_child1");
  child.parent = SessionId("sess_1800000000_abc123");
  child.created_at = WallTime{std::chrono::seconds(2'000'000'000)};
  memory_->sessions[child.id] = child;
  EXPECT_EQ(found("newest"), "sess_1900000000_abd456");
}

TEST_F(FindSessionTest, ABeginningOfSeveralNamesThem) {
  put("sess_1800000000_abc123");
  put("sess_1800000000_abd456");
  EXPECT_THAT(found("sess_18"), HasSubstr("2 sessions begin with 'sess_18'"));
  EXPECT_THAT(found("sess_18"), HasSubstr("sess_1800000000_abc123"));
}

TEST_F(FindSessionTest, AnUnknownOneNamesTheNearest) {
  put("sess_1800000000_abc123");
  EXPECT_THAT(found("sess_1800000000_abc132"), HasSubstr("did you mean sess_1800000000_abc123?"));
  EXPECT_THAT(found("x"), HasSubstr("sessions ls"));
  EXPECT_THAT(found(""), HasSubstr("there is no session"));
}

TEST_F(FindSessionTest, AnUnknownOneIsAMistakeOfWhoTypedIt) {
  put("sess_1800000000_abc123");
  put("sess_1800000000_abd456");
  EXPECT_TRUE(session_typed(store_, "sess_1800000000_abc123"));
  for (const std::string typed : {"sess_1700000000_abc123", "sess_18"})
    EXPECT_EQ(session_typed(store_, typed).error().status, ExitStatus::usage) << typed;
}

TEST_F(FindSessionTest, AWaitForAChildLastsAsLongAsTheChildMayNow) {
  const WallTime recorded{std::chrono::seconds(1'800'000'000)};
  const WallTime moved = recorded + std::chrono::minutes(5);
  Session parent;
  parent.id = parent.tree = SessionId("root");
  parent.state = SessionState::waiting;
  parent.wait = Wait{.owner = "a", .why = "for its children", .until = recorded};
  Session child;
  child.id = SessionId("a");
  child.tree = child.parent.emplace(parent.id);
  child.state = SessionState::waiting;
  child.wait = Wait{.owner = "root", .why = "asks", .until = recorded};
  child.deadline = moved;
  memory_->sessions = {{parent.id, parent}, {child.id, child}};
  (void)store_.claim(parent.id);
  EXPECT_EQ(as_seen(store_, parent).wait->until, moved);
  EXPECT_EQ(as_seen(store_, child).wait->until, recorded) << "a question's time is its own";
}

}  // namespace
}  // namespace deputy
