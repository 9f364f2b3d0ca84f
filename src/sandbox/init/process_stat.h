// What /proc/PID/stat says of a process. Its second field is the name, which the process chooses and which
// may hold anything, also ") ": what counts is the last parenthesis.
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

namespace deputy::init {

struct ProcessStat {
  pid_t pid;
  pid_t parent;
  unsigned long long started;  // with the pid, the identity of a process
};

// False where it is not such a line.
inline bool read_process_stat(const char* text, ProcessStat& process) {
  const char* after_name = strrchr(text, ')');
  process.pid = static_cast<pid_t>(strtol(text, nullptr, 10));
  return after_name &&
         sscanf(after_name,
                ") %*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
                &process.parent, &process.started) == 2;
}

}  // namespace deputy::init
