// On real folders, with the real git.
#include "delegation/workspaces.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "store/memory_store.h"
#include "support/paths.h"
#include "support/run.h"
#include "support/temp_folder.h"

namespace deputy {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

class WorkspacesTest : public testing::Test {
 protected:
  WorkspacesTest() { folder = SystemDisk().open(root.path(), IfAbsent::fail).value(); }

  void write(const std::string& name, std::string_view bytes) const {
    fs::create_directories(fs::path(root.file(name)).parent_path());
    std::ofstream(root.file(name), std::ios::binary) << bytes;
  }
  Result<ProcessResult> try_git(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "git");
    ProcessSpec spec{.argv = std::move(arguments),
                     .folder = folder.get(),
                     .environment = {{"PATH", "/usr/bin:/bin"},
                                     {"HOME", root.path()},
                                     {"GIT_AUTHOR_NAME", "t"},
                                     {"GIT_AUTHOR_EMAIL", "t@localhost"},
                                     {"GIT_COMMITTER_NAME", "t"},
                                     {"GIT_COMMITTER_EMAIL", "t@localhost"}},
                     .need = SandboxLevel::none,
                     .aim = SandboxLevel::none};
    return run(loop, processes.run(std::move(spec), {}));
  }
  std::string git(std::vector<std::string> arguments) {
    auto said = try_git(std::move(arguments));
    EXPECT_TRUE(said && said->exit_status == 0) << (said ? said->errors : to_text(said.error()));
    if (!said) return {};
    while (said->output.ends_with('\n')) said->output.pop_back();
    return said->output;
  }
  void make_repository() {
    git({"init", "--quiet", "--initial-branch=main"});
    write("a.txt", "one\n");
    git({"add", "--all"});
    git({"commit", "--quiet", "-m", "first"});
  }
  Session child(std::string id, WorkspaceMode mode) const {
    Session session;
    session.id = SessionId(std::move(id));
    session.parent = SessionId("sess_1_parent");
    session.workspace_mode = mode;
    session.workspace = mode == WorkspaceMode::worktree ? own_folder(root.path(), session.id) : root.path();
    return session;
  }
  Result<std::shared_ptr<const Folder>> open(const Session& session) {
    return run(loop, workspaces.open(session, root.path(), {}));
  }
  WorkspaceOutcome finish(const Session& session) {
    auto finished = run(loop, workspaces.finish(session, root.path()));
    EXPECT_TRUE(finished) << to_text(finished.error());
    left_out = finished ? finished->left_out : std::vector<std::string>{};
    return finished ? finished->outcome : WorkspaceOutcome{};
  }

  TempFolder root;
  std::vector<std::string> left_out;  // by the last finish
  std::unique_ptr<Folder> folder;
  SystemLoop loop;
  ThreadPool pool;
  SystemDisk disk;
  SystemProcesses processes{loop, join_path(bin_dir(), "deputy-init")};
  Workspaces workspaces{{loop, pool, disk, processes}};
};

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

TEST_F(WorkspacesTest, NothingThatTheRepositoryConfiguresRuns) {
  make_repository();
  const std::string canary = root.file(".git/canary");  // where git itself may write, from any work tree
  write(".gitattributes", "* filter=evil diff=evil\n*.late filter=late\n*.odd filter=a=b\n");
  write("x.late", "y");
  write("x.odd", "y");
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
      << canary << "\n pager = touch " << canary << "\n[filter \"a=b\"]\n smudge = touch " << canary
      << "; cat\n clean = touch " << canary << "; cat\n";
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

class Leftovers : public WorkspacesTest {
 protected:
  void record(const Session& session, bool has_ended) {
    ASSERT_TRUE(store.claim(session.tree));
    std::vector<Event> events(has_ended ? 2 : 1);
    for (auto& event : events) {
      event.tree = session.tree;
      event.run = {session.id, 1};
    }
    events[0].fact = SessionCreated{session};
    if (has_ended) events[1].fact = RunEnded{};
    ASSERT_TRUE(run(sim, store.record(std::move(events))));
  }
  SimLoop sim{1};
  MemoryStore store{sim, std::make_shared<MemoryStore::Memory>()};
};

TEST_F(Leftovers, OfDeadChildrenGoWhereTheyAreEmptyAndAreNamedWhereTheyAreNot) {
  make_repository();
  Session worked = child("sess_1_worked", WorkspaceMode::worktree);
  Session idle = child("sess_1_idle00", WorkspaceMode::worktree);
  Session unfinished = child("sess_1_unfini", WorkspaceMode::worktree);
  Session scratch = child("sess_1_scratc", WorkspaceMode::scratch);
  for (auto* session : {&worked, &idle, &unfinished, &scratch}) {
    session->tree = session->id;
    record(*session, session != &unfinished);
  }
  ASSERT_TRUE((*open(worked))->replace("b.txt", "work\n"));
  ASSERT_TRUE(open(idle));
  ASSERT_TRUE(open(unfinished));
  ASSERT_TRUE(open(scratch));

  const std::string foreign = own_folder(root.path(), SessionId("sess_1_foreig"));
  fs::create_directories(foreign);  // of a deputy with another state folder
  EXPECT_FALSE(finish(worked).branch.empty());

  const auto kept = run(loop, workspaces.clean(root.path(), store));
  ASSERT_TRUE(kept) << to_text(kept.error());
  EXPECT_THAT(*kept, ElementsAre(worked.workspace));
  EXPECT_TRUE(fs::exists(foreign));
  EXPECT_EQ(git({"show", "deputy/sess_1_worked:b.txt"}), "work");
  EXPECT_FALSE(fs::exists(idle.workspace));
  EXPECT_TRUE(fs::exists(unfinished.workspace));
  EXPECT_FALSE(fs::exists(own_folder(root.path(), scratch.id)));

  git({"merge", "--quiet", "deputy/sess_1_worked"});
  EXPECT_THAT(*run(loop, workspaces.clean(root.path(), store)), IsEmpty());
  EXPECT_FALSE(fs::exists(worked.workspace));
}

TEST_F(Leftovers, OfAKilledDeputyGoWhereTheyAreEmptyAndAreMadeAgainForWhoGoesOn) {
  make_repository();
  Session worked = child("sess_1_worked", WorkspaceMode::worktree);
  Session idle = child("sess_1_idle00", WorkspaceMode::worktree);
  Session scratch = child("sess_1_scratc", WorkspaceMode::scratch);
  for (auto* session : {&worked, &idle, &scratch}) {
    session->tree = session->id;
    record(*session, false);
  }
  {
    Workspaces killed({loop, pool, disk, processes});
    for (const auto* session : {&worked, &idle, &scratch})
      ASSERT_TRUE(run(loop, killed.open(*session, root.path(), {})));
    std::ofstream(worked.workspace + "/b.txt") << "work\n";
    EXPECT_THAT(*run(loop, workspaces.clean(root.path(), store)), IsEmpty()) << "while it runs";
    EXPECT_TRUE(fs::exists(idle.workspace) && fs::exists(own_folder(root.path(), scratch.id)));
  }
  EXPECT_THAT(*run(loop, workspaces.clean(root.path(), store)), ElementsAre(worked.workspace));
  EXPECT_FALSE(fs::exists(idle.workspace) || fs::exists(own_folder(root.path(), scratch.id)));
  ASSERT_TRUE(open(idle));
  ASSERT_TRUE(open(scratch));
  ASSERT_TRUE(open(worked));
  EXPECT_EQ(text_of(idle.workspace + "/a.txt"), "one\n");
  EXPECT_TRUE(fs::exists(own_folder(root.path(), scratch.id)));
  EXPECT_THAT(finish(worked).diff, HasSubstr("+work"));
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

// A child's command can make repositories that are not noticed when it ends, in node_modules for instance.
TEST_F(Leftovers, WithARepositoryInThemAreKeptAndNothingThatItConfiguresRuns) {
  make_repository();
  const std::string canary = root.file(".git/canary");
  Session session = child("sess_1_aaaaaa", WorkspaceMode::worktree);
  session.tree = session.id;
  record(session, true);
  ASSERT_TRUE((*open(session))->replace("b.txt", "work\n"));
  const std::string nested = session.workspace + "/node_modules/x";
  git({"init", "--quiet", nested});
  std::ofstream(nested + "/f") << "f";
  git({"-C", nested, "add", "--all"});
  git({"-C", nested, "commit", "--quiet", "-m", "nested"});
  std::ofstream(nested + "/.git/info/attributes") << "* filter=e\n";
  std::ofstream(nested + "/.git/config", std::ios::app)
      << "[filter \"e\"]\n clean = touch " << canary << "; cat\n[core]\n fsmonitor = touch " << canary
      << "\n";
  const auto touch = [&] { std::ofstream(nested + "/f") << "g"; };  // so that git must look into the file
  touch();
  EXPECT_EQ(finish(session).branch, "deputy/sess_1_aaaaaa");
  EXPECT_THAT(left_out, ElementsAre("node_modules/x"));
  EXPECT_EQ(git({"show", "deputy/sess_1_aaaaaa:b.txt"}), "work");
  EXPECT_EQ(git({"ls-tree", "-r", "--name-only", "deputy/sess_1_aaaaaa"}), "a.txt\nb.txt");
  EXPECT_FALSE(fs::exists(canary));

  // Nor where somebody has made it a part of the branch, and the branch is merged.
  git({"-C", session.workspace, "-c", "core.fsmonitor=false", "add", "--all"});
  git({"-C", session.workspace, "commit", "--quiet", "-m", "with it"});
  git({"merge", "--quiet", "deputy/sess_1_aaaaaa"});
  fs::remove(canary);
  touch();
  EXPECT_THAT(*run(loop, workspaces.clean(root.path(), store)), ElementsAre(session.workspace));
  finish(session);
  EXPECT_FALSE(fs::exists(canary));
  EXPECT_EQ(text_of(nested + "/f"), "g");
  git({"-C", session.workspace, "status", "--porcelain"});
  EXPECT_TRUE(fs::exists(canary)) << "control: git as it comes runs it";
}

// What a person has left in the worktree of a dead child, in a repository that hides it from git status.
TEST_F(Leftovers, WithWorkThatTheRepositoryHidesAreKept) {
  make_repository();
  write("b.txt", "one\n");
  git({"add", "--all"});
  git({"commit", "--quiet", "-m", "second"});
  const auto leftover = [&](std::string id) {
    Session session = child(std::move(id), WorkspaceMode::worktree);
    session.tree = session.id;
    record(session, true);
    EXPECT_TRUE(open(session));
    return session.workspace;
  };
  git({"config", "status.showUntrackedFiles", "no"});
  git({"config", "core.ignoreStat", "true"});
  git({"config", "core.fileMode", "false"});
  const std::string idle = leftover("sess_1_idle00");
  const std::string untracked = leftover("sess_1_untrac");
  std::ofstream(untracked + "/new.txt") << "new";
  const std::string changed = leftover("sess_1_change");
  std::ofstream(changed + "/a.txt") << "changed";
  const std::string marked = leftover("sess_1_marked");
  git({"-C", marked, "update-index", "--assume-unchanged", "b.txt"});
  std::ofstream(marked + "/b.txt") << "changed";
  const std::string runnable = leftover("sess_1_runnab");
  fs::permissions(runnable + "/a.txt", fs::perms::owner_exec, fs::perm_options::add);
  const std::string detached = leftover("sess_1_detach");
  git({"-C", detached, "checkout", "--quiet", "--detach"});
  git({"-C", detached, "commit", "--quiet", "--allow-empty", "-m", "on no branch"});

  const auto kept = run(loop, workspaces.clean(root.path(), store));
  ASSERT_TRUE(kept) << to_text(kept.error());
  EXPECT_THAT(*kept, UnorderedElementsAre(untracked, changed, marked, runnable, detached));
  for (const auto& path : *kept) EXPECT_TRUE(fs::exists(path)) << path;
  EXPECT_FALSE(fs::exists(idle)) << "control";
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

TEST_F(Leftovers, AFolderWithoutAnyHasNoneToName) {
  const auto kept = run(loop, workspaces.clean(root.path(), store));
  ASSERT_TRUE(kept);
  EXPECT_THAT(*kept, IsEmpty());
}

}  // namespace
}  // namespace deputy
