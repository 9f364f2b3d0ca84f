#include <gmock/gmock.h>
#include <signal.h>

#include "deputy_program.h"

namespace deputy {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::string_view kSlow = R"({"v":1,"sessions":[{"match":{"label":"a"},"replies":[
    {"calls":[{"name":"Note","arguments":{"content":"seen"}}]},{"first_byte_ms":86400000,"text":"done"}]}]})";

class TailTest : public DeputyTest {
 protected:
  std::string root_id() {
    const auto listed = deputy({"sessions", "ls"});
    const std::size_t at = listed.out.find("sess_");
    return listed.out.substr(at, listed.out.find(' ', at) - at);
  }
};

TEST_F(TailTest, TellsWhatAnEndedSessionDidAndEnds) {
  ASSERT_EQ(deputy({"delegate", "--model", script(R"({"v":1,"sessions":[{"replies":[
    {"calls":[{"name":"Note","arguments":{"content":"seen"}}]},{"text":"done"}]}]})"),
                    "--task", "a=p"})
                .status,
            0);
  const auto tail = deputy({"sessions", "tail", root_id()});
  EXPECT_EQ(tail.status, 0) << tail.err;
  EXPECT_THAT(tail.out,
              AllOf(HasSubstr("[a] started"), HasSubstr("[a] note: seen"), HasSubstr("[a] ✓ complete")));
}

TEST_F(TailTest, TellsTheEndOfWhatNeverHadAChild) {
  ASSERT_EQ(deputy({"delegate", "--model", "rehearsal", "--task", "a=p", "--context", "none.txt"}).status, 1);
  const auto tail = deputy({"sessions", "tail", root_id()});
  EXPECT_EQ(tail.status, 0) << tail.err;
  EXPECT_EQ(tail.out, "[delegate] failed: 1 of 1 did not complete\n");
}

TEST_F(TailTest, FollowsWhatAnotherProcessDoes) {
  auto working = start({"delegate", "--model", script(kSlow), "--output", "stream-json", "--task", "a=p"});
  working->read_until("session.progress");
  auto tail = start({"sessions", "tail", root_id()});
  EXPECT_THAT(tail->read_until("note: seen"), HasSubstr("[a] started"));
  working->send(SIGINT);
  working->wait();
  const auto rest = tail->wait();
  EXPECT_EQ(rest.status, 0);
  EXPECT_THAT(rest.out, HasSubstr("[a] ✗ cancelled"));
}

TEST_F(TailTest, EndsWhenNobodyRunsTheSessionAnyMore) {
  auto working = start({"delegate", "--model", script(kSlow), "--output", "stream-json", "--task", "a=p"});
  working->read_until("session.progress");
  auto tail = start({"sessions", "tail", root_id()});
  tail->read_until("[a] started");
  working->send(SIGKILL);
  working->wait();
  const auto rest = tail->wait();
  EXPECT_EQ(rest.status, 0);
  EXPECT_THAT(rest.err, HasSubstr("nobody runs it any more; to go on: `"));
  EXPECT_THAT(rest.err, HasSubstr("deputy resume " + root_id() + "`"));
}

// As by `| head -1`, while what is followed does nothing that could be written.
TEST_F(TailTest, EndsWhenItsReaderIsGone) {
  auto working = start({"delegate", "--model", script(kSlow), "--output", "stream-json", "--task", "a=p"});
  working->read_until("session.progress");
  auto tail = start({"sessions", "tail", root_id()});
  tail->read_until("note: seen");
  tail->close_stdout();
  EXPECT_EQ(tail->wait_for_end(), 0);
  working->send(SIGKILL);
  working->wait();
}

}  // namespace
}  // namespace deputy
