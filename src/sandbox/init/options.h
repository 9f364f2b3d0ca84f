// The command line of deputy-init.
#pragma once

#include <sys/types.h>

namespace deputy::init {

struct Options {
  bool probe = false;  // only say what this machine can do
  int lifeline = -1;
  int start = -1;  // without it the program starts in / and reads nothing but the system
  int status = -1;
  pid_t parent = 0;        // who must still be there
  long time_limit_ms = 0;  // 0: none
  long grace_ms = 500;     // between SIGTERM and SIGKILL
  long need_level = 0;     // refuse below it
  long open_files = 1024;  // soft limit: deputy raises its own, and select() breaks above this
  long data_bytes = 0;     // 0: as inherited
  long cpu_seconds = 0;    // 0: as inherited
  char** argv = nullptr;   // the program, by path, and its arguments
};

// Nothing when it is well-formed, else the argument that is not understood.
const char* parse_options(int count, char** arguments, Options& options);

extern const char kUsage[];

}  // namespace deputy::init
