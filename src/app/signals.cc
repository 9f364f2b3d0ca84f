#include "app/signals.h"

#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "async/descriptor.h"

namespace deputy {
namespace {

constexpr auto kSoonAfter = std::chrono::seconds(2);

sigset_t only(int number) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, number);
  return set;
}

}  // namespace

SignalAction Interrupts::on_signal(int number, TimePoint now) {
  if (number == SIGHUP) return SignalAction::suspend;
  if (number == SIGTSTP) return SignalAction::pause;
  if (number == SIGCONT) return SignalAction::come_back;
  if (number == SIGWINCH) return SignalAction::resize;
  const auto before = std::exchange(last_, now);
  return before && now - *before <= kSoonAfter ? SignalAction::leave : SignalAction::cancel;
}

Result<Signals> Signals::take() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGTSTP, SIGCONT, SIGWINCH}) sigaddset(&set, number);
  const int descriptor = ::signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
  if (descriptor < 0) return std::unexpected(error_from_errno(errno, "watch signals"));
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  return Signals(descriptor, set);
}

Signals::Signals(Signals&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), watched_(other.watched_) {}

Signals::~Signals() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  give_back();
}

void Signals::give_back() const { ::sigprocmask(SIG_UNBLOCK, &watched_, nullptr); }

void Signals::stop_process(StopReach reach) const {
  const sigset_t stop = only(SIGTSTP);
  const pid_t told = reach == StopReach::job ? 0 : ::getpid();
  ::kill(told, SIGTSTP);                       // seam: this process, and those beside it
  ::sigprocmask(SIG_UNBLOCK, &stop, nullptr);  // it stands still here
  ::sigprocmask(SIG_BLOCK, &stop, nullptr);
  const sigset_t go_on = only(SIGCONT);
  constexpr timespec kAtOnce{};
  ::sigtimedwait(&go_on, nullptr, &kAtOnce);
}

Task<std::optional<int>> Signals::next(SystemLoop& loop, StopToken stop) {
  for (;;) {
    if (co_await wait_readable(loop, descriptor_, stop) == Readiness::stopped) co_return std::nullopt;
    signalfd_siginfo info{};
    if (::read(descriptor_, &info, sizeof info) == sizeof info) co_return static_cast<int>(info.ssi_signo);
  }
}

}  // namespace deputy
