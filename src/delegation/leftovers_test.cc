// What dead children left in a workspace.
#include "sandbox/free_place.h"
#include "store/memory_store.h"
#include "support/workspaces_fixture.h"

namespace deputy {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

namespace fs = std::filesystem;

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

TEST_F(Leftovers, OfAWorktreeThatGitHadOnlyBegunGo) {
  make_repository();
  Session session = child("sess_1_aaaaaa", WorkspaceMode::worktree);
  session.tree = session.id;
  record(session, false);
  const std::string own = ".git/worktrees/agent_sess_1_aaaaaa";
  write(own + "/locked", "initializing\n");
  write(own + "/gitdir", session.workspace + "/.git\n");
  fs::create_directories(session.workspace);
  std::ofstream(session.workspace + "/.git") << "gitdir: " << root.file(own) << "\n";
  git({"branch", "deputy/sess_1_aaaaaa"});
  git({"update-ref", "refs/deputy/start/sess_1_aaaaaa", "HEAD"});
  EXPECT_THAT(*run(loop, workspaces.clean(root.path(), store)), IsEmpty());
  EXPECT_FALSE(fs::exists(session.workspace));
  EXPECT_FALSE(fs::exists(root.file(own)));
  EXPECT_EQ(git({"for-each-ref", "refs/deputy", "refs/heads/deputy"}), "");
}

// As deputy leaves it that is killed while it removes a worktree in which nobody has done anything.
TEST_F(Leftovers, OfAWorktreeThatWasRemovedByHalfGo) {
  make_repository();
  write("sub/b.txt", "two\n");
  git({"add", "--all"});
  git({"commit", "--quiet", "-m", "second"});
  const std::string own = ".git/worktrees/agent_sess_1_aaaaaa";
  Session session = child("sess_1_aaaaaa", WorkspaceMode::worktree);
  session.tree = session.id;
  record(session, true);
  const auto lose = [&](const std::vector<std::string>& files) {
    {
      Workspaces killed({loop, pool, disk, processes});
      ASSERT_TRUE(run(loop, killed.open(session, root.path(), {})));
    }
    for (const auto& file : files) ASSERT_TRUE(fs::remove(root.file(file))) << file;
  };
  const std::string at = ".deputy/subagents/agent_sess_1_aaaaaa/";
  lose({at + "a.txt"});
  EXPECT_THAT(*run(loop, workspaces.clean(root.path(), store)), ElementsAre(session.workspace))
      << "control: a file that somebody has removed is work";
  const std::vector<std::vector<std::string>> cases{
      {at + "a.txt"}, {at + "a.txt", at + ".git"}, {at + "sub/b.txt"}};
  for (const auto& gone : cases) {
    git({"-C", session.workspace, "reset", "--quiet", "--hard"});
    lose(gone);
    ASSERT_TRUE(fs::remove(root.file(own + "/index"))) << "which goes first";
    EXPECT_THAT(*run(loop, workspaces.clean(root.path(), store)), IsEmpty());
    EXPECT_FALSE(fs::exists(session.workspace) || fs::exists(root.file(own)));
    EXPECT_EQ(git({"for-each-ref", "refs/deputy", "refs/heads/deputy"}), "");
    lose({});  // made again for the next
  }
  // Who goes on in it finds it whole.
  lose({at + "a.txt", at + ".git"});
  ASSERT_TRUE(fs::remove(root.file(own + "/index")));
  ASSERT_TRUE(open(session));
  EXPECT_EQ(text_of(session.workspace + "/a.txt"), "one\n");
  EXPECT_EQ(finish(session).path, "");
}

TEST_F(Leftovers, OfAWorktreeWhoseFolderIsGoneGoAndABranchWithWorkIsNamed) {
  make_repository();
  Session idle = child("sess_1_idle00", WorkspaceMode::worktree);
  Session worked = child("sess_1_worked", WorkspaceMode::worktree);
  Session unfinished = child("sess_1_unfini", WorkspaceMode::worktree);
  for (auto* session : {&idle, &worked, &unfinished}) {
    session->tree = session->id;
    record(*session, session != &unfinished);
    Workspaces killed({loop, pool, disk, processes});
    ASSERT_TRUE(run(loop, killed.open(*session, root.path(), {})));
  }
  ASSERT_TRUE(open(worked));
  std::ofstream(worked.workspace + "/b.txt") << "work\n";
  EXPECT_EQ(finish(worked).branch, "deputy/sess_1_worked");
  git({"branch", "deputy/sess_1_foreig"});  // of a deputy with another state folder
  for (const auto* session : {&idle, &worked, &unfinished}) fs::remove_all(session->workspace);

  EXPECT_THAT(*run(loop, workspaces.clean(root.path(), store)), ElementsAre("branch deputy/sess_1_worked"));
  EXPECT_EQ(git({"for-each-ref", "--format=%(refname:lstrip=3)", "refs/heads/deputy"}),
            "sess_1_foreig\nsess_1_unfini\nsess_1_worked");
  EXPECT_FALSE(fs::exists(root.file(".git/worktrees/agent_sess_1_idle00")));
  EXPECT_EQ(git({"show", "deputy/sess_1_worked:b.txt"}), "work");

  // Also where all that git has of it is packed, and nothing else of deputy is left.
  git({"pack-refs", "--all", "--prune"});
  fs::remove_all(root.file(".deputy"));
  EXPECT_THAT(*run(loop, workspaces.clean(root.path(), store)), ElementsAre("branch deputy/sess_1_worked"));
  git({"merge", "--quiet", "deputy/sess_1_worked"});
  EXPECT_THAT(*run(loop, workspaces.clean(root.path(), store)), IsEmpty());
  EXPECT_EQ(git({"for-each-ref", "--format=%(refname:lstrip=3)", "refs/heads/deputy"}),
            "sess_1_foreig\nsess_1_unfini");
}

TEST_F(Leftovers, OfAWorktreeThatGitHasForgottenGoWhereTheyAreEmptyAndAreNamedWhereTheyAreNot) {
  make_repository();
  Session bare = child("sess_1_bare00", WorkspaceMode::worktree);
  Session full = child("sess_1_full00", WorkspaceMode::worktree);
  for (auto* session : {&bare, &full}) {
    session->tree = session->id;
    record(*session, true);
    Workspaces killed({loop, pool, disk, processes});
    ASSERT_TRUE(run(loop, killed.open(*session, root.path(), {})));
  }
  fs::remove(bare.workspace + "/a.txt");
  std::ofstream(full.workspace + "/b.txt") << "work\n";
  fs::remove_all(root.file(".git/worktrees"));
  EXPECT_THAT(*run(loop, workspaces.clean(root.path(), store)), ElementsAre(full.workspace));
  EXPECT_FALSE(fs::exists(bare.workspace));
  EXPECT_EQ(text_of(full.workspace + "/b.txt"), "work\n");
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

// As a command leaves them that was killed with its deputy: there was neither before.
TEST_F(Leftovers, TheEmptyFoldersThatCommandsWereKeptFromGo) {
  const auto are_there = [&] { return fs::exists(root.file(".git")) && fs::exists(root.file(".deputy")); };
  for (const auto* name : {".git", ".deputy"}) fs::create_directory(root.file(name));
  {
    const auto repository = FreePlace::hold(folder->descriptor(), ".git");
    const auto state = FreePlace::hold(folder->descriptor(), ".deputy");
    EXPECT_THAT(*run(loop, workspaces.clean(root.path(), store)), IsEmpty());
    EXPECT_TRUE(are_there()) << "another deputy's command runs";
  }
  for (const auto* name : {".git", ".deputy"}) fs::create_directory(root.file(name));
  EXPECT_THAT(*run(loop, workspaces.clean(root.path(), store)), IsEmpty());
  EXPECT_FALSE(fs::exists(root.file(".git")) || fs::exists(root.file(".deputy")));
}

TEST_F(Leftovers, AFolderWithoutAnyHasNoneToName) {
  const auto kept = run(loop, workspaces.clean(root.path(), store));
  ASSERT_TRUE(kept);
  EXPECT_THAT(*kept, IsEmpty());
}

TEST_F(Leftovers, OfAWorktreeChildsOwnChildrenGoFirst) {
  make_repository();
  Session outer = child("sess_1_outer0", WorkspaceMode::worktree);
  Session inner = child("sess_1_inner0", WorkspaceMode::worktree);
  Session scratch = child("sess_1_scratc", WorkspaceMode::scratch);
  inner.workspace = own_folder(outer.workspace, inner.id);
  scratch.workspace = outer.workspace;
  for (auto* session : {&outer, &inner, &scratch}) {
    session->tree = session->id;
    record(*session, false);
  }
  const auto be_killed = [&] {
    Workspaces killed({loop, pool, disk, processes});
    ASSERT_TRUE(run(loop, killed.open(outer, root.path(), {})));
    ASSERT_TRUE(run(loop, killed.open(inner, outer.workspace, {})));
    ASSERT_TRUE(run(loop, killed.open(scratch, outer.workspace, {})));
    EXPECT_THAT(*run(loop, workspaces.clean(root.path(), store)), IsEmpty()) << "while it runs";
  };
  be_killed();
  std::ofstream(root.file(".git/worktrees/agent_sess_1_outer0/index.lock")) << "";
  EXPECT_THAT(*run(loop, workspaces.clean(root.path(), store)), IsEmpty());
  EXPECT_FALSE(fs::exists(outer.workspace));
  be_killed();
  std::ofstream(inner.workspace + "/b.txt") << "work\n";
  EXPECT_THAT(*run(loop, workspaces.clean(root.path(), store)),
              ElementsAre(inner.workspace, outer.workspace));
  EXPECT_EQ(text_of(inner.workspace + "/b.txt"), "work\n");
}

}  // namespace
}  // namespace deputy
