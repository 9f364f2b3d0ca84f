// What the tests of SystemProcesses share: a loop, a folder on the disk, and programs run in it.
#pragma once

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "async/sleep.h"
#include "gtest/gtest.h"
#include "sandbox/processes.h"
#include "support/paths.h"
#include "support/run.h"

namespace deputy {

class ProcessesFixture : public testing::Test {
 protected:
  ProcessesFixture() {
    std::string pattern = testing::TempDir() + "deputy-processes-XXXXXX";
    root_ = ::mkdtemp(pattern.data());
    std::filesystem::create_directory(root_ + "/inside");
    write_file("inside/file", "what is inside\n");
    write_file("outside", "what is outside\n");
    auto opened = SystemDisk().open(root_ + "/inside", IfAbsent::fail);
    EXPECT_TRUE(opened.has_value());
    folder_ = *std::move(opened);
  }
  ~ProcessesFixture() override { std::filesystem::remove_all(root_); }

  void write_file(const std::string& name, const std::string& text) {
    std::ofstream(root_ + "/" + name) << text;
  }
  std::string read_file(const std::string& name) {
    std::ifstream file(root_ + "/" + name);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  ProcessSpec spec(std::vector<std::string> argv) {
    ProcessSpec made;
    made.argv = std::move(argv);
    made.folder = folder_.get();
    made.environment = {{"LC_ALL", "C"}};
    made.need = made.aim = level_;
    return made;
  }
  ProcessSpec shell(std::string script) { return spec({"sh", "-c", std::move(script)}); }
  // Further arguments arrive in @ARGV.
  ProcessSpec perl(std::string script, std::vector<std::string> more = {}) {
    std::vector<std::string> argv{"perl", "-e", "$| = 1; use POSIX; " + std::move(script)};
    argv.insert(argv.end(), more.begin(), more.end());
    return spec(std::move(argv));
  }

  Result<ProcessResult> try_run(ProcessSpec wanted, StopToken stop = {}) {
    return run(loop_, processes_.run(std::move(wanted), std::move(stop)));
  }
  ProcessResult run_it(ProcessSpec wanted) {
    auto result = try_run(std::move(wanted));
    if (result) return *std::move(result);
    ADD_FAILURE() << to_text(result.error());
    return {.exit_status = -1};
  }

  // A word that stands in no other process's arguments.
  std::string new_mark() {
    static int count = 0;
    return "deputy-mark-" + std::to_string(::getpid()) + "-" + std::to_string(++count) + "-";
  }
  // The pids of processes whose arguments hold all these words.
  static std::vector<pid_t> find_processes(const std::vector<std::string>& words) {
    std::vector<pid_t> found;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      const int file = ::open((entry.path() / "cmdline").c_str(), O_RDONLY | O_CLOEXEC);
      if (file < 0) continue;
      std::string arguments(8192, '\0');
      arguments.resize(
          static_cast<std::size_t>(std::max<ssize_t>(::read(file, arguments.data(), arguments.size()), 0)));
      ::close(file);
      if (std::ranges::all_of(words, [&](const auto& word) { return arguments.contains(word); })) {
        found.push_back(std::stoi(entry.path().filename()));
      }
    }
    return found;
  }
  static int count_marked(const std::string& mark) { return static_cast<int>(find_processes({mark}).size()); }
  // Until so many are there at least, or none if it is 0. False when it has not come to that after half a
  // minute.
  static Task<bool> until_marked(Loop& loop, std::string mark, int wanted) {
    const auto limit = loop.clock().now() + std::chrono::seconds(30);
    while (loop.clock().now() < limit) {
      const int count = count_marked(mark);
      if (wanted == 0 ? count == 0 : count >= wanted) co_return true;
      co_await sleep_for(loop, std::chrono::milliseconds(3), {});
    }
    co_return false;
  }

  // Where a test is about a level that this machine does not have, it is skipped.
  bool has_level(SandboxLevel level) {
    const auto can = run(loop_, processes_.capability({}));
    return can && can->level >= level;
  }

  bool has_user_namespaces() {
    const auto can = run(loop_, processes_.capability({}));
    return can && can->user_namespaces;
  }
  // Whether a program would see nothing but its folder and the system's programs: there is no /proc then.
  bool is_enclosed(ProcessSpec wanted) {
    wanted.argv = {"test", "!", "-e", "/proc"};
    return run_it(std::move(wanted)).exit_status == 0;
  }

  SystemLoop loop_;
  SandboxLevel level_ = SandboxLevel::restricted;  // of what spec() makes
  SystemProcesses processes_{loop_, bin_dir() + "/deputy-init"};
  std::string root_;
  std::unique_ptr<Folder> folder_;  // root_/inside
};

}  // namespace deputy
