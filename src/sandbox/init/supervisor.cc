#include "sandbox/init/supervisor.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

namespace deputy::init {
namespace {

constexpr int kLongestPauseMs = 50;
constexpr int kChases = 20;

long long now_ms() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

}  // namespace

int Supervisor::run(pid_t program) {
  program_ = program;
  if (options_.time_limit_ms > 0) limit_at_ = now_ms() + options_.time_limit_ms;
  while (reap()) {
    advance();
    wait();
  }
  return program_status_;
}

// False when there is nobody left to wait for. As subreaper this process inherits every orphan of the tree,
// so none hides.
bool Supervisor::reap() {
  for (;;) {
    int status = 0;
    const pid_t ended = waitpid(-1, &status, WNOHANG | __WALL);
    if (ended < 0 && errno != EINTR) return false;
    if (ended == 0) return true;
    if (ended != program_) continue;
    program_ended_ = true;
    program_status_ = status;
  }
}

void Supervisor::advance() {
  const long long now = now_ms();
  if (phase_ == Phase::running && program_ended_) kill();
  if (phase_ == Phase::running && limit_at_ > 0 && now >= limit_at_) {
    timed_out_ = true;
    end();
  }
  if (phase_ == Phase::ending && now >= kill_at_) kill();
  if (phase_ == Phase::killing && now >= kill_at_) {
    kill_all();
    kill_at_ = now_ms() + pause_ms_;
    if (pause_ms_ < kLongestPauseMs) pause_ms_ *= 2;
  }
}

void Supervisor::end() {
  if (phase_ != Phase::running) return;
  phase_ = Phase::ending;
  tree_.signal_all(SIGTERM);
  tree_.signal_all(SIGCONT);  // a stopped process would not hear it
  kill_at_ = now_ms() + options_.grace_ms;
}

void Supervisor::kill() {
  if (phase_ == Phase::killing) return;
  phase_ = Phase::killing;
  kill_at_ = 0;
}

// A process may fork and die faster than all of /proc can be read. A short walk, again and again without
// sleeping, overtakes it.
void Supervisor::kill_all() {
  for (int i = 0; i < kChases; ++i) {
    if (!tree_.kill_quickly()) break;
    if (!reap()) return;
  }
  tree_.signal_all(SIGKILL);
}

int Supervisor::patience_ms() const {
  const long long until = phase_ == Phase::running ? limit_at_ : kill_at_;
  if (until == 0 && phase_ == Phase::running) return -1;
  const long long left = until - now_ms();
  if (left <= 0) return 0;
  return left > INT_MAX ? INT_MAX : static_cast<int>(left);
}

void Supervisor::wait() {
  pollfd watched[] = {{signals_, POLLIN, 0}, {lifeline_cut_ ? -1 : options_.lifeline, POLLIN, 0}};
  if (poll(watched, 2, patience_ms()) <= 0) return;
  if (watched[0].revents) take_signals();
  if (watched[1].revents) {
    char byte = 0;
    if (read(options_.lifeline, &byte, 1) > 0) {
      end();
    } else {
      lifeline_cut_ = true;
      orphaned();
    }
  }
}

void Supervisor::orphaned() {
  reap();
  if (!program_ended_) was_orphaned_ = true;
  kill();
}

void Supervisor::take_signals() {
  signalfd_siginfo info{};
  while (read(signals_, &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
    switch (info.ssi_signo) {
      case SIGTERM:
      case SIGINT:
      case SIGQUIT:
        end();
        break;
      case SIGHUP:  // deputy's thread has died
        orphaned();
        break;
      default:  // SIGCHLD only wakes; nothing else is addressed to us
        break;
    }
  }
}

}  // namespace deputy::init
