// What a parent is told where the work of a child in a worktree cannot all be put on its branch. git is
// played.
#include "a_child.h"

namespace deputy {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;

class AWorktreeChild : public AChild {
 protected:
  AWorktreeChild() {
    options.profiles = {{.name = "worker", .tools = {"Read", "Note"}, .workspace = WorkspaceMode::worktree}};
    replies({R"({"text":"did it"})"}, "worker");
  }
  Report run_with_git() {
    Life life(world, options);
    life.processes().define("git", [this](const ProcessSpec& spec) { return git(spec); });
    EXPECT_TRUE(life.start(life.brief("go")));
    return report_of_child();
  }
  ProcessResult git(const ProcessSpec& spec) {
    const auto& argv = spec.argv;
    const auto has = [&argv](std::string_view word) { return std::ranges::find(argv, word) != argv.end(); };
    if (has("worktree") && has("add")) {
      worktree = argv.at(argv.size() - 2);
      EXPECT_TRUE(world.disk.open(worktree, IfAbsent::create));
      EXPECT_TRUE(
          world.disk.open(fmt::format("{}/.git/worktrees/{}", worktree.substr(0, worktree.find("/.deputy/")),
                                      worktree.substr(worktree.rfind('/') + 1)),
                          IfAbsent::create));
      if (!repository.empty())
        EXPECT_TRUE(world.disk.open(worktree + "/" + repository + "/.git", IfAbsent::create));
    }
    if (has("rev-parse")) return {.output = "c0ffee\n"};
    if (has("symbolic-ref")) return {.output = "deputy/" + worktree.substr(worktree.rfind("sess_")) + "\n"};
    if (has("--all") && !failure.empty()) return {.exit_status = 128, .errors = failure};
    return {};
  }
  std::string worktree;    // where it was made
  std::string repository;  // in it, of its own
  std::string failure;     // of git add
};

TEST_F(AWorktreeChild, WhoseWorkCannotBeCommittedSaysWhyAndWhereItIs) {
  failure = "fatal: no space left on device\n";
  const Report report = run_with_git();
  EXPECT_THAT(
      report.errors,
      ElementsAre(AllOf(Field(&ReportedError::code, "WORKSPACE"),
                        Field(&ReportedError::message,
                              AllOf(HasSubstr("could not be put on a branch"), HasSubstr("no space left"))),
                        Field(&ReportedError::recommendation, HasSubstr(worktree)))));
  EXPECT_EQ(report.workspace.path, worktree);
  EXPECT_THAT(told(), HasSubstr("no space left"));
}

TEST_F(AWorktreeChild, WithARepositoryOfItsOwnInItNamesWhatIsOnNoBranch) {
  repository = "lib";
  const Report report = run_with_git();
  EXPECT_THAT(
      report.errors,
      ElementsAre(AllOf(Field(&ReportedError::code, "WORKSPACE"),
                        Field(&ReportedError::message, HasSubstr("git repositories of their own: lib")),
                        Field(&ReportedError::recommendation, HasSubstr(worktree)))));
  EXPECT_THAT(told(), HasSubstr("git repositories of their own: lib"));
}

TEST_F(AWorktreeChild, WhoseEndIsForcedWithItsReportInHandKeepsItsStatusAndHasItsArtifactsUnchecked) {
  replies(
      {call("Note", R"({"content":"now"})"),
       completion(
           R"({"status":"completed","summary":"s","body":"b","artifacts":[{"path":"gone.txt","kind":"file","description":"d"}]})")},
      "worker", R"(,"timeout":30)");
  Life life(world, options);
  const auto played = [this](const ProcessSpec& spec) { return git(spec); };
  life.processes().define("git", played);
  life.runtime().subscribe([&life, &played](const Event& event, const EventOrigin&) {
    if (std::holds_alternative<NoteTaken>(event.fact))  // its worktree is made; its end needs git again
      life.processes().define("git", played, std::chrono::seconds(50));
  });
  ASSERT_TRUE(life.start(life.brief("go")));
  const Report report = report_of_child();
  EXPECT_EQ(report.status, Status::completed);
  EXPECT_EQ(report.body, "b");
  EXPECT_EQ(report.artifacts.size(), 1u);
  EXPECT_THAT(report.errors, ElementsAre(Field(&ReportedError::code, kForcedEnd),
                                         Field(&ReportedError::code, "ARTIFACTS_UNCHECKED")));
}

// Its worktree cannot be made, and it is ended by force while it is about to record that.
TEST_F(AWorktreeChild, WhoseEndIsForcedBeforeItsOwnIsOnRecordHasOne) {
  using namespace std::chrono_literals;
  world.script = R"({"v":1,"sessions":[
    {"match":{"depth":0},"replies":[{"calls":[{"name":"task","arguments":{"agent":"worker","prompt":"go"}}]},
                                    {"first_byte_ms":300000,"text":"over"}]},
    {"match":{"depth":1},"replies":[{"text":"never asked"}]}]})";
  Life life(world, options);
  const auto played = [this, &life](const ProcessSpec& spec) -> ProcessResult {
    if (std::ranges::find(spec.argv, "reset") == spec.argv.end()) return git(spec);
    life.loop().timers().call_at(life.loop().clock().now() + 21s, [this, &life] {
      life.runtime().cancel(world.session_labelled("worker")->id, StopReason::user);
    });
    return {.exit_status = 128, .errors = "fatal: no space left on device\n"};
  };
  life.processes().define("git", played, 20s);
  ASSERT_TRUE(life.start(life.brief("go")));
  EXPECT_THAT(report_of_child().errors, testing::Contains(Field(&ReportedError::code, kForcedEnd)));
  EXPECT_EQ(world.terminal_records(world.session_labelled("worker")->id), 1);
}

TEST_F(AWorktreeChild, WhoseEndIsForcedWhileItsQuestionIsOpenNamesIt) {
  world.script = R"({"v":1,"sessions":[
    {"match":{"depth":0},"replies":[{"calls":[{"name":"spawn_subagent","arguments":{"agent":"worker","task":"go"}}]},
                                    {"text":"I do not care."}]},
    {"match":{"depth":1},"replies":[{"calls":[{"name":"ask_parent","arguments":{"question":"Which one?"}}]},
                                    {"text":"never asked"}]}]})";
  Life life(world, options);
  const auto played = [this](const ProcessSpec& spec) { return git(spec); };
  life.processes().define("git", played);
  life.runtime().subscribe([&life, &played](const Event& event, const EventOrigin&) {
    if (std::holds_alternative<QuestionAsked>(event.fact))  // its worktree is made; its end needs git again
      life.processes().define("git", played, std::chrono::seconds(50));
  });
  ASSERT_TRUE(life.start(life.brief("go")));
  const Report report = report_of_child();
  EXPECT_EQ(report.reason, Reason::question_unanswered);
  EXPECT_THAT(report.errors, ElementsAre(Field(&ReportedError::message, HasSubstr("Which one?")),
                                         Field(&ReportedError::code, kForcedEnd)));
}

TEST_F(AWorktreeChild, WithNothingToSayOfItsWorkspaceHasNoErrors) {  // control
  EXPECT_THAT(run_with_git().errors, testing::IsEmpty());
}

}  // namespace
}  // namespace deputy
