// All descendants of this process: also those that have left the session, the process group or their parent.
// Where this is the first process of a PID namespace, they are all that is in it. Elsewhere they are found in
// /proc, and this process must be their subreaper.
#pragma once

#include <dirent.h>
#include <sys/types.h>

#include "sandbox/init/process_stat.h"

namespace deputy::init {

class Tree {
 public:
  // False, with errno, where /proc cannot be read: then a tree cannot be ended.
  bool open();
  // To each descendant that is there now. One that is born meanwhile may be missed: call again until none is
  // left.
  void signal_all(int signal);
  // The same with SIGKILL, much faster, by walking down from child to child: for those that fork and die
  // meanwhile. False where the kernel does not list children. May miss children of a thread other than the
  // first.
  bool kill_quickly();

 private:
  struct Process : ProcessStat {
    bool descends;
  };
  bool look(const char* name, Process& process) const;
  bool look(pid_t pid, Process& process) const;
  bool kill_beneath(const Process& parent, int depth) const;
  bool kill_child(pid_t pid, pid_t parent, Process& child) const;
  size_t look_at_all();
  void mark_descendants(size_t count);
  const Process* find(pid_t pid, size_t count) const;
  void signal_one(const Process& process, int signal) const;

  bool is_first_ = false;
  DIR* proc_ = nullptr;
  Process self_{};
  Process* processes_ = nullptr;
  size_t capacity_ = 0;
};

}  // namespace deputy::init
