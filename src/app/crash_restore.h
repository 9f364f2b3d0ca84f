// Gives a terminal back its ordinary mode when the process dies of its own mistake, also of a stack that has
// overflowed in the thread that made it, or of being told to end. One at a time.
#pragma once

#include "tui/raw_terminal.h"

namespace deputy {

class CrashRestore {
 public:
  explicit CrashRestore(const RawTerminal& terminal);
  ~CrashRestore();
  CrashRestore(const CrashRestore&) = delete;
};

}  // namespace deputy
