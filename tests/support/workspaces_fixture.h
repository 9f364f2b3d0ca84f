// What the tests of Workspaces share: a repository on the disk, the real git, and sessions that work in it.
#pragma once

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "delegation/workspaces.h"
#include "support/paths.h"
#include "support/run.h"
#include "support/temp_folder.h"

namespace deputy {

class WorkspacesTest : public testing::Test {
 protected:
  WorkspacesTest() { folder = SystemDisk().open(root.path(), IfAbsent::fail).value(); }

  void write(const std::string& name, std::string_view bytes) const {
    std::filesystem::create_directories(std::filesystem::path(root.file(name)).parent_path());
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
  static std::string text_of(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
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

}  // namespace deputy
