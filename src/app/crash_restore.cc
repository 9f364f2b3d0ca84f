#include "app/crash_restore.h"

#include <signal.h>

#include <array>
#include <iterator>

namespace deputy {
namespace {

// The last three once the process dies of them again (app/signals.h).
constexpr std::array kDeadly{SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGQUIT, SIGINT, SIGTERM, SIGHUP};

// What a handler may look at: set before it is installed, and taken away after.
const RawTerminal* g_terminal = nullptr;
std::array<struct sigaction, kDeadly.size()> g_before;

// A stack that has overflowed has no room for the handler.
constexpr std::size_t kStackBytes = 64 * 1024;
std::array<char, kStackBytes> g_stack;
stack_t g_stack_before{};

// What was to happen happens afterwards: the faulting instruction is run again. What was sent, by an abort,
// by another process or by a terminal that is gone, is sent again.
void restore_terminal(int number, siginfo_t* info, void*) {
  if (g_terminal) g_terminal->restore();
  for (std::size_t at = 0; at < kDeadly.size(); ++at) {
    if (kDeadly[at] == number) ::sigaction(number, &g_before[at], nullptr);
  }
  const bool is_request = number == SIGQUIT || number == SIGINT || number == SIGTERM || number == SIGHUP;
  const bool was_sent = info->si_code <= 0 || is_request;
  if (was_sent) ::raise(number);
}

}  // namespace

CrashRestore::CrashRestore(const RawTerminal& terminal) {
  g_terminal = &terminal;
  stack_t stack{};
  stack.ss_sp = g_stack.data();
  stack.ss_size = g_stack.size();
  ::sigaltstack(&stack, &g_stack_before);
  struct sigaction action{};
  action.sa_sigaction = restore_terminal;
  action.sa_flags = SA_NODEFER | SA_SIGINFO | SA_ONSTACK;
  for (std::size_t at = 0; at < kDeadly.size(); ++at) ::sigaction(kDeadly[at], &action, &g_before[at]);
}

CrashRestore::~CrashRestore() {
  for (std::size_t at = 0; at < kDeadly.size(); ++at) ::sigaction(kDeadly[at], &g_before[at], nullptr);
  ::sigaltstack(&g_stack_before, nullptr);
  g_terminal = nullptr;
}

}  // namespace deputy
