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

TEST_F(FindSessionTest, WhoIsWaitedForIsOneOfTheSameCallThatHasNotEnded) {
  Session parent;
  parent.id = parent.tree = SessionId("root");
  parent.state = SessionState::waiting;
  parent.wait = Wait{.owner = "a", .why = "for its children"};
  memory_->sessions[parent.id] = parent;
  (void)store_.claim(parent.id);
  const auto put_child = [&](const char* id, int step, SessionState state) {
    Session child;
    child.id = SessionId(id);
    child.tree = child.parent.emplace(parent.id);
    child.state = state;
    child.delegation = DelegationKey{.call = {.run = {parent.id, 1}, .step = step}};
    memory_->sessions[child.id] = child;
  };
  put_child("of_another_call", 1, SessionState::running);
  put_child("a", 2, SessionState::running);
  put_child("b", 2, SessionState::running);
  EXPECT_EQ(as_seen(store_, parent).wait->owner, "a");
  put_child("a", 2, SessionState::completed);
  EXPECT_EQ(as_seen(store_, parent).wait->owner, "b");
  put_child("b", 2, SessionState::completed);
  EXPECT_EQ(as_seen(store_, parent).wait->owner, "a") << "it is about to go on";
}

}  // namespace
}  // namespace deputy
