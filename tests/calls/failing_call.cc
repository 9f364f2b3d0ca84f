#include "failing_call.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>

namespace deputy::calls {
namespace {

constinit thread_local FailingCall* failing = nullptr;

bool is_refused(const char* name) { return failing && failing->refuses(name); }

}  // namespace

FailingCall::FailingCall(int at, int error, Refused how) : left_(at), error_(error), how_(how) {
  failing = this;
}

FailingCall::~FailingCall() { failing = nullptr; }

bool FailingCall::refuses(const char* name) {
  if (how_ == Refused::after_half || left_ == 0 || --left_ > 0) return false;
  refused_ = name;
  errno = error_;
  return true;
}

std::size_t FailingCall::takes(std::size_t size) {
  if (how_ == Refused::whole) return refuses("write") ? 0 : size;
  if (has_halved_) {
    has_halved_ = false;
    refused_ = "write";
    errno = error_;
    return 0;
  }
  if (left_ == 0 || --left_ > 0 || size < 2) return size;
  has_halved_ = true;
  return size / 2;
}

}  // namespace deputy::calls

using deputy::calls::failing;
using deputy::calls::is_refused;

extern "C" {

int __real_open(const char* path, int flags, ...);
int __real_openat(int folder, const char* path, int flags, ...);
int __real_fcntl(int descriptor, int command, ...);
long __real_syscall(long number, ...);
ssize_t __real_write(int file, const void* bytes, size_t size);
int __real_fsync(int file);
int __real_fchmod(int file, mode_t mode);
int __real_fstat(int file, struct stat* found);
int __real_fstatat(int folder, const char* path, struct stat* found, int flags);
ssize_t __real_readlink(const char* path, char* target, size_t size);
int __real_mkdirat(int folder, const char* path, mode_t mode);
int __real_renameat(int from, const char* old_path, int to, const char* new_path);
int __real_renameat2(int from, const char* old_path, int to, const char* new_path, unsigned flags);
int __real_pipe2(int* ends, int flags);
int __real_socketpair(int domain, int type, int protocol, int* ends);
int __real_memfd_create(const char* name, unsigned flags);
int __real_posix_spawn(pid_t* pid, const char* path, const posix_spawn_file_actions_t* actions,
                       const posix_spawnattr_t* attributes, char* const* arguments, char* const* environment);

int __wrap_open(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const auto mode = va_arg(more, mode_t);
  va_end(more);
  return is_refused("open") ? -1 : __real_open(path, flags, mode);
}

int __wrap_openat(int folder, const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const auto mode = va_arg(more, mode_t);
  va_end(more);
  return is_refused("openat") ? -1 : __real_openat(folder, path, flags, mode);
}

int __wrap_fcntl(int descriptor, int command, ...) {
  va_list more;
  va_start(more, command);
  const long argument = va_arg(more, long);
  va_end(more);
  if (command == F_DUPFD_CLOEXEC && is_refused("fcntl")) return -1;
  return __real_fcntl(descriptor, command, argument);
}

// As many arguments as come in registers: none of ours has more.
long __wrap_syscall(long number, ...) {
  long arguments[5];
  va_list more;
  va_start(more, number);
  for (long& argument : arguments) argument = va_arg(more, long);
  va_end(more);
  if (number == SYS_openat2 && is_refused("openat2")) return -1;
  if (number == SYS_pidfd_open && is_refused("pidfd_open")) return -1;
  return __real_syscall(number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4]);
}

ssize_t __wrap_write(int file, const void* bytes, size_t size) {
  const size_t taken = failing && size > 0 ? failing->takes(size) : size;
  return size > 0 && taken == 0 ? -1 : __real_write(file, bytes, taken);
}

int __wrap_fsync(int file) { return is_refused("fsync") ? -1 : __real_fsync(file); }

int __wrap_fchmod(int file, mode_t mode) { return is_refused("fchmod") ? -1 : __real_fchmod(file, mode); }

int __wrap_fstat(int file, struct stat* found) {
  return is_refused("fstat") ? -1 : __real_fstat(file, found);
}

int __wrap_fstatat(int folder, const char* path, struct stat* found, int flags) {
  return is_refused("fstatat") ? -1 : __real_fstatat(folder, path, found, flags);
}

ssize_t __wrap_readlink(const char* path, char* target, size_t size) {
  return is_refused("readlink") ? -1 : __real_readlink(path, target, size);
}

int __wrap_mkdirat(int folder, const char* path, mode_t mode) {
  return is_refused("mkdirat") ? -1 : __real_mkdirat(folder, path, mode);
}

int __wrap_renameat(int from, const char* old_path, int to, const char* new_path) {
  return is_refused("renameat") ? -1 : __real_renameat(from, old_path, to, new_path);
}

int __wrap_renameat2(int from, const char* old_path, int to, const char* new_path, unsigned flags) {
  return is_refused("renameat2") ? -1 : __real_renameat2(from, old_path, to, new_path, flags);
}

int __wrap_pipe2(int* ends, int flags) { return is_refused("pipe2") ? -1 : __real_pipe2(ends, flags); }

int __wrap_socketpair(int domain, int type, int protocol, int* ends) {
  return is_refused("socketpair") ? -1 : __real_socketpair(domain, type, protocol, ends);
}

int __wrap_memfd_create(const char* name, unsigned flags) {
  return is_refused("memfd_create") ? -1 : __real_memfd_create(name, flags);
}

// It returns its reason.
int __wrap_posix_spawn(pid_t* pid, const char* path, const posix_spawn_file_actions_t* actions,
                       const posix_spawnattr_t* attributes, char* const* arguments,
                       char* const* environment) {
  return is_refused("posix_spawn")
             ? errno
             : __real_posix_spawn(pid, path, actions, attributes, arguments, environment);
}

}  // extern "C"
