#include "sandbox/init/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace deputy::init {
namespace {

constexpr int kDeepest = 32;  // what lies deeper comes up when those above are gone

}  // namespace

bool Tree::open() {
  is_first_ = getpid() == 1;
  if (is_first_) return true;
  proc_ = opendir("/proc");
  if (!proc_) return false;
  if (look("self", self_) && self_.pid == getpid()) return true;
  errno = ENOENT;  // not a procfs, or that of another pid namespace
  return false;
}

bool Tree::look(const char* name, Process& process) const {
  char path[32];
  snprintf(path, sizeof path, "%s/stat", name);
  const int file = openat(dirfd(proc_), path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  char text[1024];
  const ssize_t length = read(file, text, sizeof text - 1);
  close(file);
  if (length <= 0) return false;
  text[length] = '\0';
  process.descends = false;
  return read_process_stat(text, process);
}

bool Tree::look(pid_t pid, Process& process) const {
  char name[16];
  snprintf(name, sizeof name, "%d", pid);
  return look(name, process);
}

size_t Tree::look_at_all() {
  size_t count = 0;
  rewinddir(proc_);
  while (const dirent* entry = readdir(proc_)) {
    if (entry->d_name[0] < '0' || entry->d_name[0] > '9') continue;
    if (count == capacity_) {
      const size_t more = capacity_ ? 2 * capacity_ : 1024;
      void* grown = realloc(processes_, more * sizeof(Process));
      if (!grown) break;  // what was seen is signalled; the rest is seen when that is gone
      processes_ = static_cast<Process*>(grown);
      capacity_ = more;
    }
    if (look(entry->d_name, processes_[count])) ++count;
  }
  qsort(processes_, count, sizeof(Process), [](const void* left, const void* right) {
    return static_cast<const Process*>(left)->pid - static_cast<const Process*>(right)->pid;
  });
  return count;
}

const Tree::Process* Tree::find(pid_t pid, size_t count) const {
  const Process wanted{{pid, 0, 0}, false};
  return static_cast<const Process*>(
      bsearch(&wanted, processes_, count, sizeof(Process), [](const void* left, const void* right) {
        return static_cast<const Process*>(left)->pid - static_cast<const Process*>(right)->pid;
      }));
}

// Parents mostly have the smaller pid, so the second pass mostly finds nothing.
void Tree::mark_descendants(size_t count) {
  const pid_t self = self_.pid;
  for (bool found = true; found;) {
    found = false;
    for (size_t i = 0; i < count; ++i) {
      Process& process = processes_[i];
      if (process.descends) continue;
      const Process* parent = process.parent == self ? nullptr : find(process.parent, count);
      process.descends = process.parent == self || (parent && parent->descends);
      found = found || process.descends;
    }
  }
}

// By descriptor, and only if it is still the process that was seen: its pid may have gone to a stranger.
void Tree::signal_one(const Process& process, int signal) const {
  const int descriptor = static_cast<int>(syscall(SYS_pidfd_open, process.pid, 0));
  if (descriptor < 0) return;
  Process now{};
  if (look(process.pid, now) && now.started == process.started)
    syscall(SYS_pidfd_send_signal, descriptor, signal, nullptr, 0);
  close(descriptor);
}

bool Tree::kill_quickly() {
  if (is_first_) return kill(-1, SIGKILL) == 0;
  return kill_beneath(self_, 0);
}

bool Tree::kill_beneath(const Process& parent, int depth) const {
  char path[64];
  snprintf(path, sizeof path, "%d/task/%d/children", parent.pid, parent.pid);
  const int file = openat(dirfd(proc_), path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  char text[4096];
  const ssize_t length = read(file, text, sizeof text - 1);  // what does not fit comes up when these are gone
  close(file);
  Process now{};
  if (length < 0 || !look(parent.pid, now) || now.started != parent.started) return false;
  text[length] = '\0';
  char* next = text;
  while (const auto pid = static_cast<pid_t>(strtol(next, &next, 10))) {
    Process child{};
    if (kill_child(pid, parent.pid, child) && depth < kDeepest) kill_beneath(child, depth + 1);
  }
  return true;
}

// Whoever has the pid now must be a child of the one who was seen to have it, or have come to us as an orphan
// meanwhile.
bool Tree::kill_child(pid_t pid, pid_t parent, Process& child) const {
  const int descriptor = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  if (descriptor < 0) return false;
  const bool ours = look(pid, child) && (child.parent == parent || child.parent == self_.pid);
  if (ours) syscall(SYS_pidfd_send_signal, descriptor, SIGKILL, nullptr, 0);
  close(descriptor);
  return ours;
}

void Tree::signal_all(int signal) {
  if (is_first_) {
    kill(-1, signal);  // all in this namespace but ourselves, at one stroke
    return;
  }
  const size_t count = look_at_all();
  mark_descendants(count);
  for (size_t i = 0; i < count; ++i) {
    if (processes_[i].descends) signal_one(processes_[i], signal);
  }
}

}  // namespace deputy::init
