// What a repository configures, and what a child does to it, against the runtime's own git.
#include "support/workspaces_fixture.h"

namespace deputy {
namespace {

using ::testing::HasSubstr;

namespace fs = std::filesystem;

TEST_F(WorkspacesTest, AChildThatPutsAnotherRepositoryIntoItsGitFileChangesNothingThere) {
  make_repository();
  const Session session = child("sess_1_aaaaaa", WorkspaceMode::worktree);
  ASSERT_TRUE((*open(session))->replace("b.txt", "work\n"));
  const std::string before = git({"rev-parse", "main"});
  std::ofstream(session.workspace + "/.git") << "gitdir: " << root.path() << "/.git\n";
  EXPECT_EQ(finish(session).branch, "deputy/sess_1_aaaaaa");
  EXPECT_EQ(git({"rev-parse", "main"}), before);
  EXPECT_EQ(git({"show", "deputy/sess_1_aaaaaa:b.txt"}), "work");
}

TEST_F(WorkspacesTest, NothingThatTheRepositoryConfiguresRuns) {
  make_repository();
  const std::string canary = root.file(".git/canary");  // where git itself may write, from any work tree
  write(".gitattributes", "* filter=evil diff=evil\n*.late filter=late\n*.odd filter=a=b\n*.bare filter=\n");
  write("x.late", "y");
  write("x.odd", "y");
  write("x.bare", "y");
  git({"add", "--all"});
  git({"commit", "--quiet", "-m", "second"});
  write(".git/evil.cfg", "[filter \"late\"]\n smudge = touch " + canary + "; cat\n required = true\n");
  write(".git/hooks/post-checkout", "#!/bin/sh\ntouch " + canary + "\n");
  write(".git/hooks/pre-commit", "#!/bin/sh\ntouch " + canary + "\n");
  write(".git/hooks/reference-transaction", "#!/bin/sh\ntouch " + canary + "\n");
  for (const auto* hook : {"post-checkout", "pre-commit", "reference-transaction"})
    fs::permissions(root.file(std::string(".git/hooks/") + hook), fs::perms::owner_all);
  std::ofstream(root.file(".git/config"), std::ios::app)
      << "[filter \"evil\"]\n smudge = touch " << canary << "; cat\n clean = touch " << canary
      << "; cat\n required = true\n[diff \"evil\"]\n command = touch " << canary << "\n textconv = touch "
      << canary << "\n[includeIf \"onbranch:deputy/**\"]\n path = evil.cfg\n[core]\n fsmonitor = touch "
      << canary << "\n pager = touch " << canary;
  for (const auto* name : {"a=b", ""}) {
    std::ofstream(root.file(".git/config"), std::ios::app)
        << "\n[filter \"" << name << "\"]\n smudge = touch " << canary << "; cat\n clean = touch " << canary
        << "; cat\n";
  }
  const Session session = child("sess_1_aaaaaa", WorkspaceMode::worktree);
  const auto opened = open(session);
  ASSERT_TRUE(opened) << to_text(opened.error());
  ASSERT_TRUE((*opened)->replace("a.txt", "two\n"));
  EXPECT_THAT(finish(session).diff, HasSubstr("+two"));
  EXPECT_FALSE(fs::exists(canary));

  // The control: the same repository, and git as it comes.
  git({"checkout", "--quiet", "-b", "other"});
  EXPECT_TRUE(fs::exists(canary)) << "the hooks would not have run anyway: the test proves nothing";
}

// Nor by way of another file, nor from another folder.
TEST_F(WorkspacesTest, NoHooksPathEditorSignatureOrHelperThatTheRepositoryIncludesRuns) {
  make_repository();
  const std::string canary = root.file(".git/canary");
  const std::string script = "#!/bin/sh\ntouch " + canary + "\n";
  for (const auto* name : {".git/own/reference-transaction", ".git/own/pre-commit",
                           ".git/own/post-index-change", ".git/own/post-checkout", ".git/sign"}) {
    write(name, script);
    fs::permissions(root.file(name), fs::perms::owner_all);
  }
  write(".git/more.cfg",
        "[core]\n hooksPath = " + root.file(".git/own") + "\n editor = touch " + canary +
            "\n[commit]\n gpgSign = true\n verbose = true\n[gpg]\n program = " + root.file(".git/sign") +
            "\n[diff]\n external = touch " + canary + "\n[credential]\n helper = !touch " + canary + "\n");
  std::ofstream(root.file(".git/config"), std::ios::app) << "[include]\n path = more.cfg\n";
  const Session session = child("sess_1_aaaaaa", WorkspaceMode::worktree);
  const auto opened = open(session);
  ASSERT_TRUE(opened) << to_text(opened.error());
  ASSERT_TRUE((*opened)->replace("a.txt", "two\n"));
  EXPECT_THAT(finish(session).diff, HasSubstr("+two"));
  EXPECT_FALSE(fs::exists(canary));
  git({"branch", "other"});
  EXPECT_TRUE(fs::exists(canary)) << "control: git as it comes runs it";
}

// Whatever the repository allows: its own setting for one protocol is stronger than that for all.
TEST_F(WorkspacesTest, NothingIsFetchedForWhatTheRepositoryLacks) {
  make_repository();
  const std::string canary = root.file(".git/canary");
  const std::string blob = git({"rev-parse", "HEAD:a.txt"});
  ASSERT_TRUE(fs::remove(root.file(".git/objects/" + blob.substr(0, 2) + "/" + blob.substr(2))));
  std::ofstream(root.file(".git/config"), std::ios::app)
      << "[core]\n repositoryformatversion = 1\n[extensions]\n partialClone = origin\n"
      << "[remote \"origin\"]\n promisor = true\n partialclonefilter = blob:none\n url = ext::touch "
      << canary << "\n[protocol \"ext\"]\n allow = always\n";
  EXPECT_FALSE(open(child("sess_1_aaaaaa", WorkspaceMode::worktree))) << "a.txt is missing";
  EXPECT_FALSE(fs::exists(canary));
  try_git({"cat-file", "-p", blob});
  EXPECT_TRUE(fs::exists(canary)) << "control: git as it comes runs it";
}

TEST_F(WorkspacesTest, WorkThatTheRepositoryHidesIsCommitted) {
  make_repository();
  git({"config", "core.ignoreStat", "true"});
  const Session session = child("sess_1_aaaaaa", WorkspaceMode::worktree);
  ASSERT_TRUE(open(session));
  git({"-C", session.workspace, "update-index", "--assume-unchanged", "a.txt"});
  std::ofstream(session.workspace + "/a.txt") << "two\n";
  EXPECT_THAT(finish(session).diff, HasSubstr("-one\n+two"));
}

}  // namespace
}  // namespace deputy
