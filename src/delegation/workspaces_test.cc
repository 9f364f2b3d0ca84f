// On real folders, with the real git.
#include "support/workspaces_fixture.h"

namespace deputy {
namespace {

using ::testing::HasSubstr;

namespace fs = std::filesystem;

TEST(Narrowed, AChildNeverGetsMoreThanItsParentHas) {
  using enum WorkspaceMode;
  for (const auto wanted : {read_only, scratch, worktree, shared}) {
    EXPECT_EQ(narrowed(read_only, wanted), read_only);
    EXPECT_EQ(narrowed(shared, wanted), wanted);
    EXPECT_EQ(narrowed(worktree, wanted), wanted);
    EXPECT_EQ(narrowed(scratch, wanted), wanted == read_only ? read_only : scratch);
  }
}

TEST_F(WorkspacesTest, AWorktreeChildWorksOnABranchOfItsOwnAndItsDiffComesBack) {
  make_repository();
  const Session session = child("sess_1_aaaaaa", WorkspaceMode::worktree);
  const auto opened = open(session);
  ASSERT_TRUE(opened) << to_text(opened.error());
  ASSERT_TRUE((*opened)->replace("a.txt", "two\n"));
  ASSERT_TRUE((*opened)->replace("new.txt", "new\n"));
  EXPECT_EQ(text_of(root.file("a.txt")), "one\n") << "the parent's own file was changed";

  const WorkspaceOutcome outcome = finish(session);
  EXPECT_EQ(outcome.branch, "deputy/sess_1_aaaaaa");
  EXPECT_THAT(outcome.diff, HasSubstr("-one\n+two"));
  EXPECT_THAT(outcome.diff, HasSubstr("new.txt"));
  EXPECT_EQ(git({"show", "deputy/sess_1_aaaaaa:a.txt"}), "two");
  EXPECT_EQ(git({"status", "--porcelain"}), "") << "the folders of children must not show";
  EXPECT_EQ(finish(session), outcome) << "after a crash it is asked again";
}

TEST_F(WorkspacesTest, AWorktreeWithoutWorkIsGoneAtOnce) {
  make_repository();
  const Session session = child("sess_1_aaaaaa", WorkspaceMode::worktree);
  ASSERT_TRUE(open(session));
  const WorkspaceOutcome outcome = finish(session);
  EXPECT_EQ(outcome.path, "");
  EXPECT_EQ(outcome.branch, "");
  EXPECT_FALSE(fs::exists(session.workspace));
  EXPECT_EQ(git({"branch", "--list", "deputy/*"}), "");
  EXPECT_EQ(git({"for-each-ref", "refs/deputy"}), "");
  EXPECT_EQ(finish(session).path, "") << "after a crash it is asked again";
}

TEST_F(WorkspacesTest, AWorktreeWithIgnoredFilesAloneIsKeptAndNamed) {
  make_repository();
  write(".gitignore", "build\n");
  git({"add", "--all"});
  git({"commit", "--quiet", "-m", "second"});
  const Session session = child("sess_1_aaaaaa", WorkspaceMode::worktree);
  ASSERT_TRUE((*open(session))->make_folder("build"));
  std::ofstream(session.workspace + "/build/report.html") << "x";
  EXPECT_EQ(finish(session).path, session.workspace);
  EXPECT_EQ(text_of(session.workspace + "/build/report.html"), "x");
}

TEST_F(WorkspacesTest, AWorktreeChildMayHaveOneOfItsOwn) {
  make_repository();
  const Session outer = child("sess_1_aaaaaa", WorkspaceMode::worktree);
  ASSERT_TRUE(open(outer));
  Session inner = child("sess_1_bbbbbb", WorkspaceMode::worktree);
  inner.workspace = own_folder(outer.workspace, inner.id);
  const auto opened = run(loop, workspaces.open(inner, outer.workspace, {}));
  ASSERT_TRUE(opened) << to_text(opened.error());
  ASSERT_TRUE((*opened)->replace("c.txt", "deep\n"));
  const auto outcome = run(loop, workspaces.finish(inner, outer.workspace));
  ASSERT_TRUE(outcome) << to_text(outcome.error());
  EXPECT_EQ(outcome->outcome.branch, "deputy/sess_1_bbbbbb");
  EXPECT_EQ(git({"show", "deputy/sess_1_bbbbbb:c.txt"}), "deep");
}

TEST_F(WorkspacesTest, AScratchChildGetsItsFolderAlsoWhereItsParentIsAtWork) {
  Session parent;
  parent.workspace = root.path();
  parent.workspace_mode = WorkspaceMode::shared;
  ASSERT_TRUE(open(parent));
  const Session session = child("sess_1_aaaaaa", WorkspaceMode::scratch);
  ASSERT_TRUE(open(session));
  EXPECT_TRUE(fs::is_directory(own_folder(root.path(), session.id)));
}

TEST_F(WorkspacesTest, AWorktreeIsFoundAgainAfterARestart) {
  make_repository();
  const Session session = child("sess_1_aaaaaa", WorkspaceMode::worktree);
  ASSERT_TRUE((*open(session))->replace("new.txt", "kept\n"));
  Workspaces restarted({loop, pool, disk, processes});
  const auto again = run(loop, restarted.open(session, root.path(), {}));
  ASSERT_TRUE(again);
  EXPECT_EQ((*again)->read("new.txt", 0, 100), "kept\n");
}

TEST_F(WorkspacesTest, AWorktreeNeedsARepository) {
  const auto refused = open(child("sess_1_aaaaaa", WorkspaceMode::worktree));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("not the top folder of a git repository"));
  EXPECT_FALSE(refused.error().advice.empty());
}

TEST_F(WorkspacesTest, AScratchFolderThatStaysEmptyIsGoneAndOneWithWorkIsNamed) {
  const Session session = child("sess_1_aaaaaa", WorkspaceMode::scratch);
  ASSERT_TRUE(open(session));
  const std::string own = own_folder(root.path(), session.id);
  ASSERT_TRUE(fs::is_directory(own));
  EXPECT_EQ(finish(session).path, "");
  EXPECT_FALSE(fs::exists(own));

  Workspaces again({loop, pool, disk, processes});
  ASSERT_TRUE(run(loop, again.open(session, root.path(), {})));
  std::ofstream(own + "/result") << "x";
  EXPECT_EQ(finish(session).path, own);
}

TEST_F(WorkspacesTest, AWorktreeThatWasMadeByHalfIsFinished) {
  make_repository();
  const Session session = child("sess_1_aaaaaa", WorkspaceMode::worktree);
  {
    Workspaces killed({loop, pool, disk, processes});
    ASSERT_TRUE(run(loop, killed.open(session, root.path(), {})));
  }
  ASSERT_TRUE(fs::remove(root.file(".git/worktrees/agent_sess_1_aaaaaa/index")));
  ASSERT_TRUE(fs::remove(session.workspace + "/a.txt"));
  ASSERT_TRUE(open(session));
  EXPECT_EQ(text_of(session.workspace + "/a.txt"), "one\n");
  EXPECT_EQ(finish(session).branch, "") << "nothing was changed";
}

// As a git leaves it that is killed while it adds a worktree, before and after it has written where that
// lies.
TEST_F(WorkspacesTest, AWorktreeThatGitHadOnlyBegunIsMadeAnew) {
  make_repository();
  for (const auto* id : {"sess_1_aaaaaa", "sess_1_bbbbbb", "sess_1_cccccc"}) {
    const Session session = child(id, WorkspaceMode::worktree);
    const std::string name = "agent_" + session.id.value;
    const std::string own = ".git/worktrees/" + name;
    write(own + "/locked", "initializing\n");
    if (session.id.value != "sess_1_aaaaaa") fs::create_directories(session.workspace);
    if (session.id.value == "sess_1_cccccc") {
      write(own + "/gitdir", session.workspace + "/.git\n");
      std::ofstream(session.workspace + "/.git") << "gitdir: " << root.file(own) << "\n";
    }
    write(".git/refs/deputy/start/" + session.id.value + ".lock", "");
    const auto opened = open(session);
    ASSERT_TRUE(opened) << to_text(opened.error());
    EXPECT_EQ(text_of(session.workspace + "/a.txt"), "one\n");
    EXPECT_FALSE(fs::exists(root.file(own + "/locked")));
    EXPECT_FALSE(fs::exists(root.file(own + "1"))) << "registered by another name";
    EXPECT_EQ(finish(session).path, "") << "nothing was changed";
  }
  // The control: git as it comes takes another name beside what was begun.
  write(".git/worktrees/begun/locked", "initializing\n");
  git({"worktree", "prune"});
  git({"worktree", "add", "--quiet", "begun"});
  EXPECT_TRUE(fs::exists(root.file(".git/worktrees/begun1")));
}

TEST_F(WorkspacesTest, AWorktreeWhoseFolderIsGoneIsMadeAgainWithTheWorkOnItsBranch) {
  make_repository();
  const Session session = child("sess_1_aaaaaa", WorkspaceMode::worktree);
  {
    Workspaces killed({loop, pool, disk, processes});
    ASSERT_TRUE((*run(loop, killed.open(session, root.path(), {})))->replace("new.txt", "kept\n"));
  }
  git({"-C", session.workspace, "add", "--all"});
  git({"-C", session.workspace, "commit", "--quiet", "-m", "by a person"});
  fs::remove_all(session.workspace);
  ASSERT_TRUE(open(session));
  EXPECT_EQ(text_of(session.workspace + "/new.txt"), "kept\n");
  EXPECT_THAT(finish(session).diff, testing::HasSubstr("+kept"));
}

TEST_F(WorkspacesTest, AWorktreeThatAPersonLockedOrThatHoldsMoreIsNotMadeAnew) {
  make_repository();
  const Session session = child("sess_1_aaaaaa", WorkspaceMode::worktree);
  {
    Workspaces killed({loop, pool, disk, processes});
    ASSERT_TRUE((*run(loop, killed.open(session, root.path(), {})))->replace("new.txt", "kept\n"));
  }
  for (const auto* reason : {"", "mine\n", "initializing\n"}) {
    write(".git/worktrees/agent_sess_1_aaaaaa/locked", reason);
    Workspaces again({loop, pool, disk, processes});
    ASSERT_TRUE(run(loop, again.open(session, root.path(), {})));
    EXPECT_EQ(text_of(session.workspace + "/new.txt"), "kept\n") << reason;
  }
}

// Where the worktree was opened, and cleaned away by another process before it could be held.
TEST_F(WorkspacesTest, AWorktreeThatIsCleanedAwayWhileItIsOpenedIsMadeAgain) {
  class DiskOfTwo final : public Disk {
   public:
    Result<std::unique_ptr<Folder>> open(std::string_view path, IfAbsent if_absent) const override {
      auto opened = real.open(path, if_absent);
      if (opened && path == contested && other) std::exchange(other, {})();
      return opened;
    }
    Result<FileStatus> status(std::string_view path) const override { return real.status(path); }
    std::string current_folder() const override { return real.current_folder(); }
    SystemDisk real;
    std::string contested;
    mutable std::function<void()> other;
  };
  make_repository();
  DiskOfTwo both;
  for (const auto mode : {WorkspaceMode::worktree, WorkspaceMode::scratch}) {
    const Session session = child("sess_1_aaaaaa", mode);
    both.contested = own_folder(root.path(), session.id);
    both.other = [path = both.contested] { fs::remove_all(path); };
    {
      Workspaces before({loop, pool, disk, processes});
      ASSERT_TRUE(run(loop, before.open(session, root.path(), {})));
    }
    Workspaces late({loop, pool, both, processes});
    const auto opened = run(loop, late.open(session, root.path(), {}));
    ASSERT_TRUE(opened) << to_text(opened.error());
    EXPECT_FALSE(both.other) << "nobody came between";
    EXPECT_TRUE(fs::is_directory(both.contested));
    EXPECT_TRUE((*opened)->replace("new.txt", "new\n"));
    fs::remove_all(both.contested);
  }
}

TEST_F(WorkspacesTest, TheLocksOfAGitThatWasKilledAreNoObstacle) {
  make_repository();
  const Session session = child("sess_1_aaaaaa", WorkspaceMode::worktree);
  const std::string own = root.file(".git/worktrees/agent_sess_1_aaaaaa/");
  const std::vector<std::string> locks{own + "index.lock", own + "HEAD.lock",
                                       root.file(".git/refs/heads/deputy/sess_1_aaaaaa.lock")};
  const auto lock = [&] {
    for (const auto& each : locks) std::ofstream(each) << "";
  };
  {
    Workspaces killed({loop, pool, disk, processes});
    ASSERT_TRUE((*run(loop, killed.open(session, root.path(), {})))->replace("a.txt", "two\n"));
    lock();
    ASSERT_TRUE(open(session));
    for (const auto& each : locks) EXPECT_TRUE(fs::exists(each)) << "somebody works there";
  }
  EXPECT_EQ(finish(session).branch, "deputy/sess_1_aaaaaa");
  lock();
  Workspaces resumed({loop, pool, disk, processes});
  ASSERT_TRUE(run(loop, resumed.open(session, root.path(), {})));
  for (const auto& each : locks) EXPECT_FALSE(fs::exists(each)) << each;
}

TEST_F(WorkspacesTest, AWorktreeWhoseChildrenLeftNothingIsGoneAtOnce) {
  make_repository();
  const Session outer = child("sess_1_aaaaaa", WorkspaceMode::worktree);
  ASSERT_TRUE(open(outer));
  Session inner = child("sess_1_bbbbbb", WorkspaceMode::worktree);
  inner.workspace = own_folder(outer.workspace, inner.id);
  ASSERT_TRUE(run(loop, workspaces.open(inner, outer.workspace, {})));
  ASSERT_TRUE(run(loop, workspaces.finish(inner, outer.workspace)));
  EXPECT_EQ(finish(outer).path, "");
  EXPECT_FALSE(fs::exists(outer.workspace));
}

}  // namespace
}  // namespace deputy
