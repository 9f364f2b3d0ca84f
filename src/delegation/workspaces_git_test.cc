// What a repository configures, and what a child does to it, against the runtime's own git.
#include <fmt/format.h>

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

// What the repository would have run leaves a canary; each has its own, and its own control: a command that
// git as it comes runs it for.
class ConfiguredRepository : public WorkspacesTest {
 protected:
  ConfiguredRepository() { make_repository(); }

  // Where git itself may write, from any work tree.
  std::string canary(std::string_view name) const { return root.file(fmt::format(".git/canary-{}", name)); }
  std::string touch(std::string_view name) const { return "touch " + canary(name); }
  void write_program(const std::string& path, std::string_view name) const {
    write(path, fmt::format("#!/bin/sh\n{}\n", touch(name)));
    fs::permissions(root.file(path), fs::perms::owner_all);
  }
  void configure(std::string_view settings) const {
    std::ofstream(root.file(".git/config"), std::ios::app) << settings;
  }
  void expect_nothing_to_run() {
    const Session session = child("sess_1_aaaaaa", WorkspaceMode::worktree);
    const auto opened = open(session);
    ASSERT_TRUE(opened) << to_text(opened.error());
    ASSERT_TRUE((*opened)->replace("a.txt", "two\n"));
    EXPECT_THAT(finish(session).diff, HasSubstr("+two"));
    for (const auto& entry : fs::directory_iterator(root.file(".git"))) {
      const std::string name = entry.path().filename();
      EXPECT_FALSE(name.starts_with("canary-")) << name;
    }
  }
  void expect_control(std::string_view name, std::vector<std::string> arguments) {
    fs::remove(canary(name));
    (void)try_git(std::move(arguments));
    EXPECT_TRUE(fs::exists(canary(name))) << "control: git as it comes runs the " << name;
  }
};

TEST_F(ConfiguredRepository, NoHookFilterDriverOrMonitorRuns) {
  write(".gitattributes", "* filter=evil diff=evil\n*.late filter=late\n*.odd filter=a=b\n*.bare filter=\n");
  for (const auto* name : {"x.late", "x.odd", "x.bare"}) write(name, "y");
  git({"add", "--all"});
  git({"commit", "--quiet", "-m", "second"});
  for (const auto* hook : {"post-checkout", "pre-commit", "reference-transaction"})
    write_program(fmt::format(".git/hooks/{}", hook), hook);
  const auto filter = [&](std::string_view driver, std::string_view name) {
    return fmt::format("[filter \"{0}\"]\n smudge = \"{1}; cat\"\n clean = \"{1}; cat\"\n", driver,
                       touch(name));
  };
  write(".git/evil.cfg", filter("late", "late") + " required = true\n");
  configure(filter("evil", "filter") + " required = true\n" + filter("a=b", "odd") + filter("", "bare"));
  configure(
      fmt::format("[diff \"evil\"]\n command = {}\n textconv = {}\n", touch("diff"), touch("textconv")));
  configure("[includeIf \"onbranch:deputy/**\"]\n path = evil.cfg\n");
  // One that fails tells git nothing, and so hides no change from the controls.
  configure(
      fmt::format("[core]\n fsmonitor = \"{}; false\"\n pager = {}\n", touch("fsmonitor"), touch("pager")));
  expect_nothing_to_run();

  expect_control("post-checkout", {"checkout", "--quiet", "-b", "other"});
  expect_control("reference-transaction", {"branch", "another"});
  for (const auto& [name, file] : std::initializer_list<std::pair<const char*, const char*>>{
           {"filter", "a.txt"}, {"odd", "x.odd"}, {"bare", "x.bare"}}) {
    write(file, "three\n");
    expect_control(name, {"add", file});
  }
  expect_control("pre-commit", {"commit", "--quiet", "-m", "third"});
  expect_control("fsmonitor", {"status"});
  write("a.txt", "four\n");
  expect_control("diff", {"diff"});
  expect_control("textconv", {"diff", "--no-ext-diff"});
  (void)try_git({"checkout", "--quiet", "-b", "deputy/other"});
  fs::remove(root.file("x.late"));
  expect_control("late", {"checkout", "--", "x.late"});
}

// Nor by way of another file, nor from another folder.
TEST_F(ConfiguredRepository, NoHooksPathEditorSignatureOrTransportThatItIncludesRuns) {
  for (const auto* hook : {"reference-transaction", "pre-commit", "post-index-change", "post-checkout"})
    write_program(fmt::format(".git/own/{}", hook), hook);
  write_program(".git/sign", "sign");
  write(".git/more.cfg", fmt::format("[core]\n hooksPath = {}\n editor = {}\n sshCommand = {}\n",
                                     root.file(".git/own"), touch("editor"), touch("ssh")) +
                             fmt::format("[commit]\n gpgSign = true\n verbose = true\n[gpg]\n program = {}\n",
                                         root.file(".git/sign")) +
                             fmt::format("[diff]\n external = {}\n[credential]\n helper = !{}\n",
                                         touch("external"), touch("helper")));
  configure("[include]\n path = more.cfg\n");
  expect_nothing_to_run();

  expect_control("reference-transaction", {"branch", "other"});
  expect_control("post-checkout", {"checkout", "--quiet", "other"});
  write("a.txt", "three\n");
  expect_control("external", {"diff"});
  expect_control("post-index-change", {"add", "a.txt"});
  expect_control("pre-commit", {"commit", "--quiet", "-m", "x"});
  expect_control("sign", {"commit", "--quiet", "-m", "x"});
  expect_control("editor", {"commit", "--quiet"});
  expect_control("ssh", {"ls-remote", "ssh://h/x"});
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
