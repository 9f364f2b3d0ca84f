// The one door to processes. A process starts confined, its output is collected up to a bound, and nothing of
// it is left when run() returns: not after its end, not after a stop, not after a deadline. SimProcesses
// plays programs that a test defines.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "async/loop.h"
#include "async/stop.h"
#include "async/task.h"
#include "async/waiter.h"
#include "base/disk.h"
#include "base/result.h"

namespace deputy {

// How far a process is confined. At every level its whole tree ends with it, with the call and with deputy.
// `restricted` cannot promise what the higher ones do:
// - processes that leave their parent are found in /proc, so who kills deputy-init itself (not the program:
// it
//   may not) sets them free;
// - in a folder that may be written it does not keep `.git/hooks`, `.git/config` and `.deputy` from being
//   written or read;
// - file modes and times cannot be changed at all, there is no private /tmp, and neither the number of
//   processes nor their memory together has a limit.
enum class SandboxLevel {
  none = 0,
  restricted = 1,  // Landlock, a system call filter, no capabilities
  isolated = 2,    // also its own process, mount, network and IPC namespaces
  metered = 3,     // also a cgroup with limits
};

enum class Access { read, write };

// A folder that a process sees besides its own.
struct Root {
  std::string path;  // absolute
  Access access = Access::read;
};

struct ProcessLimits {
  std::uint64_t memory = 4ULL << 30;     // bytes, of each process; where metered, of all together
  std::uint64_t file_size = 4ULL << 30;  // bytes
  // From `isolated` on. Of root only where metered: the kernel has no other limit for root.
  std::uint64_t processes = 512;
};

inline constexpr std::size_t kMostRoots = 16;
inline constexpr std::size_t kMostKeptBack = 256;  // hidden and fixed ones together
inline constexpr std::chrono::seconds kLongestTimeLimit =
    std::chrono::hours(24 * 30);  // a longer one counts as this

// A file, empty and durable, in which is written down that the program is about to begin and how it ended,
// each synced: for whoever has to know after deputy has died. In deputy-init's words (status_record.h).
struct EndRecord {
  const Folder* folder = nullptr;
  std::string name;
};

// What a program and all that it started took.
struct ProcessUse {
  Duration cpu{};           // of all together
  std::int64_t memory = 0;  // bytes: the most that one of them had at once
};

struct ProcessSpec {
  std::vector<std::string> argv;  // argv[0] is looked up in a fixed PATH
  // Where it starts; it may read what lies beneath, and the system's programs and libraries. Without one it
  // starts in /.
  const Folder* folder = nullptr;
  Access folder_access = Access::read;
  std::vector<Root> roots;  // none of them widens `folder_access` of what lies in the folder
  // For a program that opens files by the ten thousand, reads its folder alone and is `restricted`: where
  // namespaces can be made, it sees nothing else but the system's programs, which costs less than to forbid
  // the rest.
  bool enclosed = false;
  // From `isolated` on, what in the folder or a root is kept back: paths that begin with that folder's own.
  // What is not there is passed over, so it cannot be kept from coming to be.
  std::vector<std::string> hidden;                 // files and folders that cannot be opened
  std::vector<std::string> fixed;                  // and those that cannot be changed, moved or replaced
  bool network = false;                            // granted by the person
  std::map<std::string, std::string> environment;  // the whole of it: nothing is inherited
  // Per stream: its first bytes. Of what comes after only the end is kept, and `cut` says so.
  std::size_t max_output = 1 << 20;
  std::chrono::seconds time_limit{60};
  ProcessLimits limits;
  SandboxLevel need = SandboxLevel::restricted;  // it is not started below this
  SandboxLevel aim = SandboxLevel::metered;      // nor confined further: each level takes longer to start
  std::optional<EndRecord> record = std::nullopt;
  // Output of both streams as it comes, on the loop, before it is bounded. May be empty.
  std::function<void(std::string_view)> on_output;
  // Once, when nothing of it is left, however it ended. Not where deputy-init was killed too. May be empty.
  std::function<void(const ProcessUse&)> on_use = {};
};

// The end of a stream that went on past max_output.
struct OutputEnd {
  static constexpr std::size_t kBytes = 64 * 1024;
  std::string text;            // at least the last kBytes of what came after, and at most twice as many
  std::uint64_t left_out = 0;  // bytes between the first ones and these
};

struct ProcessResult {
  int exit_status = 0;  // 128 + signal where one ended it
  std::string output;
  std::string errors;
  OutputEnd output_end = {};
  OutputEnd errors_end = {};
  bool cut = false;  // output or errors went past max_output
  bool timed_out = false;
  SandboxLevel level = SandboxLevel::none;  // what it was confined to
};

class Processes {
 public:
  virtual ~Processes() = default;
  // Error::cancelled when stopped; Error::not_found when there is no such program; Error::unavailable when it
  // cannot be confined here.
  virtual Task<Result<ProcessResult>> run(ProcessSpec spec, StopToken stop) = 0;
};

// What this machine can do, tried out.
struct Capability {
  SandboxLevel level = SandboxLevel::none;
  int landlock_abi = 0;
  bool seccomp = false;
  bool user_namespaces = false;  // without bwrap
  std::string why;               // why not higher; empty at the highest level
  std::string fix;               // and what to do about it
};

struct SandboxSettings {
  std::string init_path;              // deputy-init, beside the program itself
  std::string bwrap = "bwrap";        // looked up like a program
  std::vector<std::string> hidden{};  // folders that an isolated process never sees: deputy's own state
};

class SystemProcesses final : public Processes {
 public:
  SystemProcesses(SystemLoop& loop, std::string init_path);
  SystemProcesses(SystemLoop& loop, SandboxSettings settings);
  ~SystemProcesses() override;
  Task<Result<ProcessResult>> run(ProcessSpec spec, StopToken stop) override;
  // Tried once, and remembered.
  Task<Result<Capability>> capability(StopToken stop);
  // Believes what was found out earlier, instead of trying. Nothing rests on its being true: each process
  // looks for itself whether it is confined as it must be, and is not started where it is not.
  void assume(Capability capability) { capability_ = std::move(capability); }
  // The same as one line of JSON: {"level":2,"landlock_abi":7,"seccomp":true,"userns":true,"why":…,"fix":…}.
  Task<Result<std::string>> probe(StopToken stop);

 private:
  Task<Result<Capability>> try_out(StopToken stop);

  SystemLoop& loop_;
  SandboxSettings settings_;
  std::optional<Capability> capability_;
  bool is_trying_ = false;
  std::vector<Waiter<bool>> waiting_;  // for the one who tries
};

// A program that takes no time uses nothing; any other that time, and as much memory as this.
inline constexpr std::int64_t kSimMemory = 1 << 20;

class SimProcesses final : public Processes {
 public:
  using Program = std::function<ProcessResult(const ProcessSpec&)>;
  explicit SimProcesses(Loop& loop) : loop_(loop) {}
  void define(std::string name, Program program, Duration takes = {});
  // With whoever started them: those that run leave no end, every second one its effect; none is started
  // after it.
  void die() { is_dead_ = true; }
  // Asked before each start; an Error it returns is what run() returns, as where the system has no process
  // left.
  void set_fault(std::function<Result<void>()> fault) { fault_ = std::move(fault); }
  Task<Result<ProcessResult>> run(ProcessSpec spec, StopToken stop) override;

 private:
  struct Defined {
    Program program;
    Duration takes{};
  };
  Loop& loop_;
  std::map<std::string, Defined, std::less<>> programs_;
  bool is_dead_ = false;
  int ended_by_death_ = 0;
  std::function<Result<void>()> fault_;
};

}  // namespace deputy
