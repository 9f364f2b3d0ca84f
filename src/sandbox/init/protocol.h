// What deputy and deputy-init agree on: where its descriptors stand, what comes to it down the life line, and
// what it writes to its status descriptor. A status is lines of a word and its values; a line that is not
// there did not happen:
//   inside                        deputy-init runs; before this line nothing of the program can have run
//   confined LEVEL LANDLOCK_ABI   just before the program is executed
//   refused REASON                the level that was asked for cannot be had here: nothing was started
//   unstarted ERRNO               the program could not be executed
//   timeout                       deputy-init's own time limit came first
//   used MICROSECONDS KILOBYTES   of CPU by all of its tree; of memory by the one of it that had most
//   ended exit STATUS             the program ended, and nothing of its tree is left
//   ended signal NUMBER           the same, by a signal
#pragma once

namespace deputy::init {

// One end of a pair of sockets, or the read end of a pipe. A byte asks for an end: SIGTERM, and SIGKILL after
// the grace. Its end of file means that deputy is gone, or wants everything gone now.
inline constexpr int kLifeline = 3;
inline constexpr int kStart = 4;        // the directory to start in
inline constexpr int kStatus = 5;       // the write end of a pipe, or a file
inline constexpr int kEnvironment = 6;  // a file
inline constexpr int kFirstFree = 7;    // from here on: grants, cgroups, and what bwrap mounts

inline constexpr char kInside[] = "inside";
inline constexpr char kConfined[] = "confined";
inline constexpr char kRefused[] = "refused";
inline constexpr char kUnstarted[] = "unstarted";
inline constexpr char kUsed[] = "used";
inline constexpr char kTimeout[] = "timeout";
inline constexpr char kEndedExit[] = "ended exit";
inline constexpr char kEndedSignal[] = "ended signal";

// For whoever runs it by hand; deputy goes by the status, because programs use these numbers too.
inline constexpr int kExitUsage = 124;
inline constexpr int kExitRefused = 125;
inline constexpr int kExitNotExecutable = 126;
inline constexpr int kExitNotFound = 127;

}  // namespace deputy::init
