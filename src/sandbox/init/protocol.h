// What deputy and deputy-init agree on: where its descriptors stand, and what it writes to its status
// descriptor. A status is lines of a word and its values; a line that is not there did not happen:
//   confined LEVEL LANDLOCK_ABI   written just before the program is executed
//   refused REASON                the level that was asked for cannot be had here; the program was not
//   started unstarted ERRNO               the program could not be executed timeout deputy-init's own time
//   limit came first ended exit STATUS             the program ended, and nothing of its tree is left ended
//   signal NUMBER           the same, by a signal
#pragma once

namespace deputy::init {

inline constexpr int kLifeline =
    3;  // read end of a pipe; its EOF means that deputy is gone, or wants everything gone now
inline constexpr int kStart = 4;   // the directory to start in and to read beneath
inline constexpr int kStatus = 5;  // write end of a pipe, or a file

inline constexpr char kConfined[] = "confined";
inline constexpr char kRefused[] = "refused";
inline constexpr char kUnstarted[] = "unstarted";
inline constexpr char kTimeout[] = "timeout";
inline constexpr char kEndedExit[] = "ended exit";
inline constexpr char kEndedSignal[] = "ended signal";

// For whoever runs it by hand; deputy goes by the status, because programs use these numbers too.
inline constexpr int kExitUsage = 124;
inline constexpr int kExitRefused = 125;
inline constexpr int kExitNotExecutable = 126;
inline constexpr int kExitNotFound = 127;

}  // namespace deputy::init
