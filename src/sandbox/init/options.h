// The command line of deputy-init.
#pragma once

#include <sys/types.h>

namespace deputy::init {

// A file or directory, by descriptor, that the program may reach besides the system.
struct Grant {
  int descriptor;
  bool writable;
};

inline constexpr int kMostGrants = 40;
inline constexpr int kMostGroups = 2;

struct Options {
  bool probe = false;     // only say what this machine can do
  bool isolated = false;  // bwrap has given this process namespaces of its own, and it is the first in them
  bool network = false;   // the program may reach the network
  bool enclose = false;  // where that is possible, it sees nothing but the folder that it reads (enclosure.h)
  int lifeline = -1;
  int start = -1;  // without it the program starts in /
  int status = -1;
  int record = -1;                  // a file that gets, synced, what of the status is needed after a crash
  int environment = -1;             // a file of NUL-terminated NAME=VALUE; without it: as inherited
  const char* directory = nullptr;  // where `start` is mounted, for an isolated one
  const char* home = nullptr;       // a directory to write in besides /tmp, for an isolated one
  Grant grants[kMostGrants] = {};
  int grant_count = 0;
  int groups[kMostGroups] = {};  // cgroup.procs files to enter
  int group_count = 0;
  pid_t parent = 0;        // who must still be there
  long time_limit_ms = 0;  // 0: none
  long grace_ms = 500;     // between SIGTERM and SIGKILL
  long aim = 3;            // the level to confine to
  long need_level = 0;     // refuse below it
  long open_files = 1024;  // soft limit: deputy raises its own, and select() breaks above this
  long data_bytes = 0;     // 0: as inherited, here and below
  long file_bytes = 0;
  long processes = 0;
  long cpu_seconds = 0;
  char** argv = nullptr;  // the program, by path, and its arguments
};

// Nothing when it is well-formed, else the argument that is not understood.
const char* parse_options(int count, char** arguments, Options& options);

extern const char kUsage[];

}  // namespace deputy::init
