#include "sandbox/watch.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "async/descriptor.h"
#include "async/task_group.h"
#include "base/json.h"
#include "sandbox/init/process_stat.h"

namespace deputy {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::size_t kTurn = 256 * 1024;       // what is read before the loop's other work gets a turn
constexpr std::size_t kLastTurn = 1024 * 1024;  // no pipe holds more
constexpr milliseconds kPatience{1000};         // deputy-init ends a tree within its grace of half a second
constexpr seconds kLastPatience{60};            // without it the tree would lose the one who ends it

enum class Stream { open, ended };

// What one stream gives, and where it goes.
struct Collecting {
  Collected* into;
  std::size_t max;
  const std::function<void(std::string_view)>* on_output;
};

// Reads what is there, at most about `most` bytes.
Stream take_available(int descriptor, std::size_t most, const Collecting& collecting) {
  std::array<char, 64 * 1024> buffer;
  for (std::size_t taken = 0; taken < most;) {
    const auto count = ::read(descriptor, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) return Stream::open;
    if (count <= 0) return Stream::ended;
    const auto length = static_cast<std::size_t>(count);
    collecting.into->take({buffer.data(), length}, collecting.max);
    taken += length;
    if (*collecting.on_output) (*collecting.on_output)({buffer.data(), length});
  }
  return Stream::open;
}

std::string take_rest(int descriptor) {
  Collected rest;
  const std::function<void(std::string_view)> nobody;
  take_available(descriptor, kLastTurn, {&rest, kLastTurn, &nobody});
  return std::move(rest.text);
}

// Until the stream ends. When deputy-init is gone it is stopped, and takes what is left in the pipe.
Task<> collect(SystemLoop& loop, int descriptor, Collecting collecting, StopToken stop) {
  while (co_await wait_readable(loop, descriptor, stop) == Readiness::ready) {
    if (take_available(descriptor, kTurn, collecting) == Stream::ended) co_return;
  }
  take_available(descriptor, kLastTurn, collecting);
}

void send(int process, int signal) { ::syscall(SYS_pidfd_send_signal, process, signal, nullptr, 0); }

Task<Readiness> ended_within(SystemLoop& loop, int process, Duration patience) {
  StopSource limit;
  limit.set_deadline(loop.timers(), loop.clock().now() + patience);
  co_return co_await wait_readable(loop, process, limit.token());
}

bool is_child_of(pid_t child, pid_t parent) {
  const OwnedFd file(::open(fmt::format("/proc/{}/stat", child).c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return false;
  const auto text = take_rest(file.get());
  init::ProcessStat found{};
  return init::read_process_stat(text.c_str(), found) && found.parent == parent;
}

// The first process of a PID namespace takes all others with it, and bwrap ends when the kernel has ended
// them.
void kill_first_inside(const Spawned& spawned) {
  char said[4096];
  const auto length = ::pread(spawned.info.get(), said, sizeof said, 0);
  const auto info =
      parse_json_object(std::string_view(said, static_cast<std::size_t>(std::max<ssize_t>(length, 0))));
  const auto pid = info ? static_cast<pid_t>(integer_or(*info, "child-pid", 0)) : 0;
  if (pid <= 0) return send(spawned.process.get(), SIGKILL);
  const OwnedFd first(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (first && is_child_of(pid, spawned.pid)) send(first.get(), SIGKILL);
}

// Gently first. Takes no token: an ending, once begun, completes.
Task<> end_tree(SystemLoop& loop, Spawned* spawned) {
  const int process = spawned->process.get();
  ::send(spawned->lifeline.get(), "x", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
  send(process, SIGCONT);  // in case somebody has stopped it
  if (co_await ended_within(loop, process, kPatience) == Readiness::ready) co_return;
  spawned->lifeline.reset();
  if (spawned->info) kill_first_inside(*spawned);
  if (co_await ended_within(loop, process, kLastPatience) == Readiness::ready) co_return;
  send(process, SIGKILL);
  co_await wait_readable(loop, process, {});
}

Task<Interrupted> wait_for_end(SystemLoop& loop, Spawned* spawned, seconds time_limit, StopToken stop) {
  StopSource limit(stop);
  limit.set_deadline(loop.timers(), loop.clock().now() + time_limit);
  if (co_await wait_readable(loop, spawned->process.get(), limit.token()) == Readiness::ready)
    co_return Interrupted::no;
  const auto why = stop.stopped() ? Interrupted::by_stop : Interrupted::by_time_limit;
  co_await end_tree(loop, spawned);
  co_return why;
}

int reap(const Spawned& spawned) {
  siginfo_t info{};
  if (::waitid(P_PIDFD, static_cast<id_t>(spawned.process.get()), &info, WEXITED) != 0) return 0;
  return info.si_code == CLD_EXITED ? 0 : info.si_status;
}

}  // namespace

void Collected::take(std::string_view piece, std::size_t max) {
  const auto first = std::min(piece.size(), max - text.size());
  text.append(piece.substr(0, first));
  piece.remove_prefix(first);
  cut = cut || !piece.empty();
  end.text.append(piece);
  if (end.text.size() <= 2 * OutputEnd::kBytes) return;
  const auto dropped = end.text.size() - OutputEnd::kBytes;
  end.text.erase(0, dropped);
  end.left_out += dropped;
}

Task<Ran> watch(SystemLoop& loop, Spawned spawned, WatchLimits limits, StopToken stop) {
  Ran ran;
  const Collecting output{&ran.output, limits.max_output, &limits.on_output};
  const Collecting errors{&ran.errors, limits.max_output, &limits.on_output};
  TaskGroup readers(loop);
  readers.spawn(collect(loop, spawned.output.get(), output, readers.token()));
  readers.spawn(collect(loop, spawned.errors.get(), errors, readers.token()));
  ran.interrupted = co_await wait_for_end(loop, &spawned, limits.time, stop);
  ran.init_signal = reap(spawned);
  co_await readers.stop(StopReason::parent_stopped);
  ran.status = take_rest(spawned.status.get());
  co_return ran;
}

}  // namespace deputy
