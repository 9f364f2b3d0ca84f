#include <fmt/format.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "async/descriptor.h"
#include "async/task_group.h"
#include "sandbox/init/protocol.h"
#include "sandbox/processes.h"
#include "sandbox/spawn.h"
#include "sandbox/status_record.h"

namespace deputy {
namespace {

using std::chrono::seconds;

constexpr std::size_t kTurn = 256 * 1024;       // what is read before the loop's other work gets a turn
constexpr std::size_t kLastTurn = 1024 * 1024;  // no pipe holds more
constexpr seconds kPatience{2};                 // deputy-init ends a tree within its grace of half a second
constexpr seconds kLastPatience{60};            // without it the tree would lose the one who ends it
constexpr std::uint64_t kMemory = 4ULL << 30;   // bytes of data a program may have

struct Collected {
  std::string text;
  bool cut = false;
};

enum class Stream { open, ended };

// Reads what is there, at most about `most` bytes; keeps `max` in all and drops the rest.
Stream take_available(int descriptor, std::size_t max, std::size_t most, Collected& into) {
  std::array<char, 64 * 1024> buffer;
  for (std::size_t taken = 0; taken < most;) {
    const auto count = ::read(descriptor, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) return Stream::open;
    if (count <= 0) return Stream::ended;
    const auto length = static_cast<std::size_t>(count);
    const auto kept = std::min(length, max - into.text.size());
    into.text.append(buffer.data(), kept);
    into.cut = into.cut || kept < length;
    taken += length;
  }
  return Stream::open;
}

// Until the stream ends. When deputy-init is gone it is stopped, and takes what is left in the pipe.
Task<> collect(SystemLoop& loop, int descriptor, std::size_t max, StopToken stop, Collected* into) {
  while (co_await wait_readable(loop, descriptor, stop) == Readiness::ready) {
    if (take_available(descriptor, max, kTurn, *into) == Stream::ended) co_return;
  }
  take_available(descriptor, max, kLastTurn, *into);
}

void send(int process, int signal) { ::syscall(SYS_pidfd_send_signal, process, signal, nullptr, 0); }

Task<Readiness> ended_within(SystemLoop& loop, int process, Duration patience) {
  StopSource limit;
  limit.set_deadline(loop.timers(), loop.clock().now() + patience);
  co_return co_await wait_readable(loop, process, limit.token());
}

// Gently first. Takes no token: an ending, once begun, completes.
Task<> end_tree(SystemLoop& loop, Spawned* spawned) {
  const int process = spawned->process.get();
  send(process, SIGTERM);
  send(process, SIGCONT);  // in case somebody has stopped it
  if (co_await ended_within(loop, process, kPatience) == Readiness::ready) co_return;
  spawned->lifeline.reset();
  if (co_await ended_within(loop, process, kLastPatience) == Readiness::ready) co_return;
  send(process, SIGKILL);
  co_await wait_readable(loop, process, {});
}

enum class Interrupted { no, by_stop, by_time_limit };

Task<Interrupted> wait_for_end(SystemLoop& loop, Spawned* spawned, seconds time_limit, StopToken stop) {
  StopSource limit(stop);
  limit.set_deadline(loop.timers(), loop.clock().now() + time_limit);
  if (co_await wait_readable(loop, spawned->process.get(), limit.token()) == Readiness::ready)
    co_return Interrupted::no;
  const auto why = stop.stopped() ? Interrupted::by_stop : Interrupted::by_time_limit;
  co_await end_tree(loop, spawned);
  co_return why;
}

struct Ran {
  Collected output;
  Collected errors;
  std::string status;
  int init_signal = 0;  // what ended deputy-init itself
  Interrupted interrupted = Interrupted::no;
};

int reap(const Spawned& spawned) {
  siginfo_t info{};
  if (::waitid(P_PIDFD, static_cast<id_t>(spawned.process.get()), &info, WEXITED) != 0) return 0;
  return info.si_code == CLD_EXITED ? 0 : info.si_status;
}

Task<Ran> watch(SystemLoop& loop, Spawned spawned, std::size_t max_output, seconds time_limit,
                StopToken stop) {
  Ran ran;
  TaskGroup readers(loop);
  readers.spawn(collect(loop, spawned.output.get(), max_output, readers.token(), &ran.output));
  readers.spawn(collect(loop, spawned.errors.get(), max_output, readers.token(), &ran.errors));
  ran.interrupted = co_await wait_for_end(loop, &spawned, time_limit, stop);
  ran.init_signal = reap(spawned);
  co_await readers.stop(StopReason::parent_stopped);
  Collected status;
  take_available(spawned.status.get(), kLastTurn, kLastTurn, status);
  ran.status = std::move(status.text);
  co_return ran;
}

std::vector<std::string> init_arguments(const ProcessSpec& spec, std::string program) {
  using std::to_string;
  std::vector<std::string> arguments = {
      "--lifeline", to_string(init::kLifeline), "--status", to_string(init::kStatus), "--parent",
      to_string(::getpid()), "--need-level", to_string(static_cast<int>(spec.need)),
      // Its own limit comes after ours: it is for a deputy that hangs.
      "--time-limit-ms", to_string(std::chrono::milliseconds(spec.time_limit + kPatience).count()),
      "--data-bytes", to_string(kMemory)};
  if (spec.folder) arguments.insert(arguments.end(), {"--start", to_string(init::kStart)});
  arguments.push_back("--");
  arguments.push_back(std::move(program));
  arguments.insert(arguments.end(), spec.argv.begin() + 1, spec.argv.end());
  return arguments;
}

Result<Spawned> spawn_confined(const std::string& init_path, const ProcessSpec& spec) {
  if (spec.argv.empty())
    return fail(ErrorCode::invalid, "no program was named", "give argv at least one element");
  if (spec.folder && spec.folder->descriptor() < 0) {
    return fail(ErrorCode::invalid,
                fmt::format("a process cannot start in {}: it is not on the disk", spec.folder->path()),
                "use a folder of a SystemDisk");
  }
  TRY(auto program, find_program(spec.argv[0]));
  return spawn_init({.init_path = init_path,
                     .arguments = init_arguments(spec, std::move(program)),
                     .environment = spec.environment,
                     .start = spec.folder ? spec.folder->descriptor() : -1});
}

Error start_error(int number, const std::string& program) {
  if (number == E2BIG) {
    return {ErrorCode::invalid, fmt::format("cannot execute {}: {}", program, std::strerror(number)),
            "the arguments or the environment are too long: pass less"};
  }
  if (number == EACCES) {
    return {ErrorCode::denied, fmt::format("cannot execute {}: {}", program, std::strerror(number)),
            "only programs that lie beneath /usr, /bin or /sbin, not links out of them, run confined: "
            "install it there"};
  }
  return error_from_errno(number, "execute " + program);
}

Result<ProcessResult> result_of(Ran ran, const std::string& program) {
  const auto record = parse_status(ran.status);
  if (ran.interrupted == Interrupted::by_stop) return std::unexpected(Error::cancelled());
  if (record.refused) {
    return fail(ErrorCode::unavailable,
                fmt::format("{} was not started: it cannot be confined here ({})", program, *record.refused),
                "Linux 5.13 or later with Landlock and seccomp is needed; `deputy doctor` shows what this "
                "machine has");
  }
  if (record.unstarted) return std::unexpected(start_error(*record.unstarted, program));
  if (!record.exit_status) {
    return fail(
        ErrorCode::internal,
        fmt::format("deputy-init ended before {} did (signal {}); what that had started may still run: {}",
                    program, ran.init_signal, ran.errors.text.substr(0, 500)),
        "look for it with ps; if nobody killed deputy-init, please report this");
  }
  return ProcessResult{.exit_status = *record.exit_status,
                       .output = std::move(ran.output.text),
                       .errors = std::move(ran.errors.text),
                       .cut = ran.output.cut || ran.errors.cut,
                       .timed_out = ran.interrupted == Interrupted::by_time_limit || record.timed_out,
                       .level = record.level};
}

}  // namespace

SystemProcesses::SystemProcesses(SystemLoop& loop, std::string init_path)
    : loop_(loop), init_path_(std::move(init_path)) {}

SystemProcesses::~SystemProcesses() = default;

Task<Result<ProcessResult>> SystemProcesses::run(ProcessSpec spec, StopToken stop) {
  if (stop.stopped()) co_return std::unexpected(Error::cancelled());
  spec.time_limit = std::clamp(spec.time_limit, seconds(0), kLongestTimeLimit);
  CO_TRY(Spawned spawned, spawn_confined(init_path_, spec));
  Ran ran = co_await watch(loop_, std::move(spawned), spec.max_output, spec.time_limit, stop);
  co_return result_of(std::move(ran), spec.argv[0]);
}

Task<Result<std::string>> SystemProcesses::probe(StopToken stop) {
  if (stop.stopped()) co_return std::unexpected(Error::cancelled());
  CO_TRY(Spawned spawned, spawn_init({.init_path = init_path_, .arguments = {"--probe"}, .environment = {}}));
  const Ran ran = co_await watch(loop_, std::move(spawned), 4096, seconds(10), stop);
  if (ran.interrupted == Interrupted::by_stop) co_return std::unexpected(Error::cancelled());
  if (!ran.output.text.ends_with("}\n")) {
    co_return fail(ErrorCode::unavailable,
                   fmt::format("{} --probe said nothing: {}", init_path_, ran.errors.text),
                   "reinstall deputy");
  }
  co_return ran.output.text.substr(0, ran.output.text.size() - 1);
}

}  // namespace deputy
