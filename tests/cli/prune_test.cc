// What was kept of trees that have ended can be removed, all of it, and nothing else goes.
#include <gmock/gmock.h>
#include <signal.h>

#include <chrono>

#include "base/json.h"
#include "deputy_program.h"

namespace deputy {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class PruneTest : public DeputyTest {
 protected:
  std::string add_tree() {
    const auto ran = deputy({"delegate", "--model", model_, "--task", "one=look here", "--output", "json"});
    const auto result = parse_json_object(ran.out);
    EXPECT_TRUE(result) << ran.err;
    return result ? string_or(*result, "session_id", "") : "";
  }
  // A tree whose process was killed while it ran.
  std::string add_unfinished() {
    const auto running = start({"run", "wait", "--output", "stream-json", "--model", model_});
    running->read_until(R"("call":0,"result":"ok")");
    running->send(SIGKILL);
    (void)running->wait();
    const auto left = parse_json(deputy({"sessions", "ls", "--live", "--output", "json"}).out);
    EXPECT_TRUE(left && left->as_array().size() == 1);
    return left ? string_or(left->as_array().front().as_object(), "id", "") : "";
  }
  std::string listed() { return deputy({"sessions", "ls"}).out; }

  std::string model_ = script(R"({"v":1,"sessions":[
      {"match":{"agent":"reader"},"replies":[
        {"text":"looking","calls":[{"name":"Note","arguments":{"content":"a note"}}]},{"text":"it is fine"}]},
      {"match":{"agent":"main"},"replies":[
        {"calls":[{"name":"List","arguments":{}}]},{"text":"at last","first_byte_ms":60000}]}]})");
};

TEST_F(PruneTest, WithoutAnIdOnlyWhatEndedLongAgoGoes) {
  const auto tree = add_tree();
  const auto young = deputy({"sessions", "prune"});
  EXPECT_EQ(young.status, 0) << young.err;
  EXPECT_THAT(young.out, HasSubstr("0 trees"));
  EXPECT_THAT(listed(), HasSubstr(tree));

  const auto would = deputy({"sessions", "prune", "--older-than", "0s", "--dry-run"});
  EXPECT_EQ(would.status, 0) << would.err;
  EXPECT_THAT(would.out, AllOf(HasSubstr(tree), HasSubstr("[one] look here"), HasSubstr("1 tree, 2 sessions"),
                               HasSubstr("would be removed")));
  EXPECT_THAT(listed(), HasSubstr(tree));

  const auto gone = deputy({"sessions", "prune", "--older-than", "0s"});
  EXPECT_EQ(gone.status, 0) << gone.err;
  EXPECT_THAT(gone.out, AllOf(HasSubstr(tree), HasSubstr("1 tree, 2 sessions"), HasSubstr(" removed"),
                              Not(HasSubstr("would"))));
  EXPECT_THAT(gone.err, IsEmpty());
  EXPECT_EQ(contents(home() / "deputy.db-wal"), "") << "all of it is in the database";
  EXPECT_EQ(listed(), "");
  EXPECT_THAT(files_below(home() / "subagent"), IsEmpty());
  EXPECT_EQ(deputy({"sessions", "show", tree}).status, 2);
}

TEST_F(PruneTest, OneTreeGoesByItsIdAndTheOthersStay) {
  const auto first = add_tree();
  const auto second = add_tree();
  const auto ran = deputy({"sessions", "prune", second, "--output", "json"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  const auto result = parse_json_object(ran.out);
  ASSERT_TRUE(result) << ran.out;
  EXPECT_EQ(integer_or(*result, "sessions", 0), 2);
  EXPECT_EQ(integer_or(*result, "files", 0), 3) << "two transcripts, a scratchpad";
  EXPECT_GT(integer_or(*result, "bytes", 0), 1000);
  EXPECT_EQ(result->at("dry_run"), false);
  ASSERT_EQ(array_at(*result, "trees")->size(), 1u);
  EXPECT_EQ(string_or(array_at(*result, "trees")->front().as_object(), "id", ""), second);
  EXPECT_THAT(listed(), AllOf(HasSubstr(first), Not(HasSubstr(second))));
  EXPECT_THAT(deputy({"sessions", "ls"}).err, IsEmpty()) << "nothing is taken for lost";
}

TEST_F(PruneTest, WhatIsUnfinishedStays) {
  const auto tree = add_unfinished();
  ASSERT_THAT(tree, HasSubstr("sess_"));
  const auto all = deputy({"sessions", "prune", "--older-than", "0s"});
  EXPECT_EQ(all.status, 0) << all.err;
  EXPECT_THAT(all.out, HasSubstr("0 trees"));
  const auto one = deputy({"sessions", "prune", tree});
  EXPECT_EQ(one.status, 1);
  EXPECT_THAT(one.err, AllOf(HasSubstr(tree + " has not ended"), HasSubstr("deputy resume " + tree)));
  EXPECT_THAT(listed(), HasSubstr(tree));
}

TEST_F(PruneTest, WhatWasLeftIsCancelledWithoutItsModelAndThenGoes) {
  const auto tree = add_unfinished();
  std::filesystem::remove(root() / "script.json");
  EXPECT_THAT(deputy({"sessions", "prune", tree}).err, HasSubstr("deputy sessions cancel " + tree));
  const auto cancelled = deputy({"sessions", "cancel", tree});
  EXPECT_EQ(cancelled.status, 0) << cancelled.err;
  EXPECT_EQ(cancelled.out, tree + " cancelled\n");
  EXPECT_EQ(deputy({"sessions", "ls", "--live"}).out, "");
  EXPECT_THAT(deputy({"sessions", "cancel", tree}).out, HasSubstr("had ended already (cancelled)"));
  EXPECT_EQ(deputy({"sessions", "cancel", tree, "--output", "json"}).out,
            "{\"status\":\"ended\",\"session_id\":\"" + tree + "\"}\n");
  const auto pruned = deputy({"sessions", "prune", tree});
  EXPECT_EQ(pruned.status, 0) << pruned.err;
  EXPECT_EQ(listed(), "");
}

TEST_F(PruneTest, WhatCannotBeMeantIsRefused) {
  const auto tree = add_tree();
  const auto both = deputy({"sessions", "prune", tree, "--older-than", "1d"});
  EXPECT_EQ(both.status, 2);
  EXPECT_THAT(both.err, HasSubstr("--older-than"));
  const auto time = deputy({"sessions", "prune", "--older-than", "soon"});
  EXPECT_EQ(time.status, 2);
  EXPECT_THAT(time.err, HasSubstr("it must be a time such as 12h, 7d or 30d"));
  const auto parsed = parse_json_object(deputy({"sessions", "tree", tree, "--output", "json"}).out);
  ASSERT_TRUE(parsed);
  const auto child = string_or(array_at(*parsed, "children")->front().as_object(), "id", "");
  const auto below = deputy({"sessions", "prune", child});
  EXPECT_EQ(below.status, 2);
  EXPECT_THAT(below.err, HasSubstr("deputy sessions prune " + tree));
  EXPECT_THAT(listed(), HasSubstr(tree));
}

// Killed wherever it happens to be: what was kept is as it was or gone, and nothing is taken for lost.
class PruneRealTime : public PruneTest {};

TEST_F(PruneRealTime, KilledAnywhereItLosesNothingThatItWasNotToRemove) {
  const auto kept = add_unfinished();
  int killed = 0;
  for (int round = 0; round < 40; ++round) {
    const auto tree = add_tree();
    auto pruning = start({"sessions", "prune", "--older-than", "0s"});
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(5 * round);
    while (std::chrono::steady_clock::now() < until) {
    }
    pruning->send(SIGKILL);
    killed += pruning->wait().status == 128 + SIGKILL;
    const auto shown = deputy({"sessions", "export", tree});
    EXPECT_THAT(shown.err, Not(HasSubstr("damaged"))) << "round " << round;
    EXPECT_THAT(shown.err, Not(HasSubstr("lost"))) << "round " << round;
    if (shown.status == 0) EXPECT_THAT(shown.out, HasSubstr("session.completed")) << "round " << round;
    ASSERT_THAT(listed(), HasSubstr(kept));
  }
  EXPECT_GT(killed, 0) << "none was killed in time";
  const auto rest = deputy({"sessions", "prune", "--older-than", "0s"});
  EXPECT_EQ(rest.status, 0) << rest.err;
  EXPECT_THAT(rest.err, IsEmpty());
  EXPECT_EQ(files_below(home() / "subagent").size(), 1u) << "that of the unfinished one";
}

}  // namespace
}  // namespace deputy
