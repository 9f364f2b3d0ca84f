// Agents of each workspace mode, read from their files and at work in a repository of the person's.
#include <gmock/gmock.h>
#include <signal.h>

#include <cstdlib>

#include "base/json.h"
#include "deputy_program.h"

namespace deputy {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class WorkspacesOfAgents : public DeputyTest {
 protected:
  void SetUp() override {
    if (!deputy({"doctor"}).out.contains("in namespaces of their own"))
      GTEST_SKIP() << "this machine cannot isolate processes";
    write(work() / "a.txt", "one\n");
    git("init -q -b main && git add -A && git commit -q -m first");
  }
  void git(const std::string& words) const {
    EXPECT_EQ(std::system(("cd '" + work().string() +
                           "' && export GIT_AUTHOR_NAME=t GIT_AUTHOR_EMAIL=t@localhost GIT_COMMITTER_NAME=t "
                           "GIT_COMMITTER_EMAIL=t@localhost && git " +
                           words)
                              .c_str()),
              0);
  }
  // `worker` in that mode, whom the root hands a task; it says these replies.
  std::string worker(const std::string& mode, const std::string& replies) {
    write(root() / "person/.config/deputy/agents/worker.md",
          "---\ntools: [Write, Bash]\nworkspace: " + mode + "\n---\nDo it.\n");
    return script(R"({"v":1,"sessions":[{"match":{"depth":0},"replies":[
        {"calls":[{"name":"task","arguments":{"agent":"worker","prompt":"work"}}]},{"text":"ended"}]},
        {"match":{"agent":"worker"},"replies":[)" +
                  replies + "]}]}");
  }
  // By a tool and by a command, then its report.
  std::string that_writes(const std::string& mode) { return worker(mode, kWrites + R"(,{"text":"tried"})"); }
  // What the root was told of its child.
  std::string run_and_report(const std::string& model) {
    const auto ran = deputy({"run", "--yes", "--model", model, "go"});
    EXPECT_EQ(ran.status, 0) << ran.err;
    const auto listed = deputy({"sessions", "ls", "--output", "json"}).out;
    return deputy({"sessions", "transcript", listed.substr(listed.find("sess_"), 22)}).out;
  }
  // What a next start says, whatever it is about.
  std::string next_start() {
    return deputy({"run", "--model", script(R"({"v":1,"sessions":[{"replies":[{"text":"hello"}]}]})"), "go"})
        .err;
  }
  // The folders of children, with all that lies in them but git's.
  std::vector<std::string> leftovers() const {
    std::vector<std::string> names;
    for (const auto& name : files_below(work() / ".deputy/subagents")) {
      if (!name.contains(".git")) names.push_back(name);
    }
    return names;
  }
  bool is_made(const std::string& name) const { return fs::exists(work() / name); }

  const std::string kWrites =
      R"({"calls":[{"name":"Write","arguments":{"file_path":"made","content":"by a tool\n"}},
                   {"name":"Bash","arguments":{"command":"echo by a command > commanded"}}]})";
};

TEST_F(WorkspacesOfAgents, AReadOnlyOneWritesNothing) {
  run_and_report(that_writes("read_only"));
  EXPECT_FALSE(is_made("made") || is_made("commanded"));
  EXPECT_THAT(leftovers(), ElementsAre());
}

TEST_F(WorkspacesOfAgents, AScratchOneWritesInAFolderOfItsOwnThatIsNamed) {
  const auto report = run_and_report(that_writes("scratch"));
  EXPECT_FALSE(is_made("made") || is_made("commanded"));
  EXPECT_THAT(leftovers(), ElementsAre(testing::StartsWith("agent_sess_"), testing::EndsWith("/commanded")));
  EXPECT_THAT(report, HasSubstr(".deputy/subagents/agent_sess_"));
}

TEST_F(WorkspacesOfAgents, AWorktreeOneReportsItsBranchAndItsDiff) {
  const auto report = run_and_report(that_writes("worktree"));
  EXPECT_FALSE(is_made("made") || is_made("commanded"));
  EXPECT_THAT(report, AllOf(HasSubstr("deputy/sess_"), HasSubstr("+by a tool"), HasSubstr("+by a command")));
}

TEST_F(WorkspacesOfAgents, ASharedOneWritesInTheParentsFolder) {
  run_and_report(that_writes("shared"));
  EXPECT_EQ(contents(work() / "made"), "by a tool\n");
  EXPECT_EQ(contents(work() / "commanded"), "by a command\n");
  EXPECT_THAT(leftovers(), ElementsAre());
}

TEST_F(WorkspacesOfAgents, WorkThatWasNotMergedIsKeptAndNamedAndWhatWasMergedGoesAtTheNextStart) {
  run_and_report(that_writes("worktree"));
  const auto kept = leftovers();
  EXPECT_THAT(next_start(), AllOf(HasSubstr("work of earlier agents that was not merged"),
                                  HasSubstr(work() / ".deputy/subagents" / kept.front())));
  EXPECT_EQ(leftovers(), kept);
  git("merge -q deputy/" + kept.front().substr(6));
  EXPECT_THAT(next_start(), Not(HasSubstr("not merged")));
  EXPECT_THAT(leftovers(), ElementsAre());
  EXPECT_TRUE(is_made("made") && is_made("commanded"));
}

TEST_F(WorkspacesOfAgents, WhatADeadOneLeftEmptyGoesAtTheNextStart) {
  run_and_report(that_writes("scratch"));
  const fs::path own = work() / ".deputy/subagents" / leftovers().front();
  fs::remove(own / "commanded");
  EXPECT_TRUE(fs::exists(own));
  EXPECT_THAT(next_start(), Not(HasSubstr("not merged")));
  EXPECT_FALSE(fs::exists(own));
}

TEST_F(WorkspacesOfAgents, WhatAKilledOneLeftEmptyGoesAtTheNextStartAndItGoesOnAllTheSame) {
  const std::string reads = R"({"calls":[{"name":"Bash","arguments":{"command":"true"}}]})";
  const std::string writes = R"({"calls":[{"name":"Bash","arguments":{"command":"echo late > late"}}]})";
  const auto slow = worker("scratch", reads + R"(,{"first_byte_ms":86400000,"text":"late"})");
  auto running = start({"run", "--yes", "--model", slow, "--output", "stream-json", "go"});
  running->read_until(R"("call":0,"result":"ok")");
  EXPECT_THAT(next_start(), Not(HasSubstr("not merged")));
  EXPECT_THAT(leftovers(), ElementsAre(testing::_)) << "it is at work there";
  running->send(SIGKILL);
  running->wait();
  EXPECT_THAT(next_start(), Not(HasSubstr("not merged")));
  EXPECT_THAT(leftovers(), ElementsAre());
  worker("scratch", reads + "," + writes + R"(,{"text":"ended"})");
  EXPECT_EQ(deputy({"resume", "--yes"}).status, 0);
  EXPECT_THAT(leftovers(), Contains(testing::EndsWith("/late")));
}

TEST_F(WorkspacesOfAgents, AWorktreeOneGoesOnWhereAKillLeftIt) {
  const auto slow = worker("worktree", kWrites + R"(,{"first_byte_ms":86400000,"text":"late"})");
  auto running = start({"run", "--yes", "--model", slow, "--output", "stream-json", "go"});
  running->read_until(R"("call":1,"result":"ok")");
  running->send(SIGKILL);
  running->wait();
  const auto left = leftovers();
  EXPECT_THAT(next_start(), HasSubstr(work() / ".deputy/subagents" / left.front()));
  EXPECT_EQ(leftovers(), left);
  worker("worktree", kWrites + R"(,{"text":"late"})");
  const auto resumed = deputy({"resume", "--output", "json"});
  EXPECT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_THAT(next_start(), HasSubstr(left.front()));
  git("merge -q deputy/" + left.front().substr(6));
  EXPECT_EQ(contents(work() / "made"), "by a tool\n");
}

}  // namespace
}  // namespace deputy
