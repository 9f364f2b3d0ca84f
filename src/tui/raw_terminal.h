// A terminal that hands over every key as it is typed, with pastes marked. It is as it was again when this is
// destroyed, or on restore(), which may be called from a signal handler.
#pragma once

#include <termios.h>

#include "base/result.h"

namespace deputy {

class RawTerminal {
 public:
  static Result<RawTerminal> take(int input, int output);
  RawTerminal(RawTerminal&& other) noexcept;
  RawTerminal& operator=(RawTerminal&&) = delete;
  ~RawTerminal();

  // Into the ordinary mode for a while, and back.
  void restore() const;
  void enter() const;

 private:
  RawTerminal(int input, int output, const termios& before)
      : input_(input), output_(output), before_(before) {}
  int input_ = -1;
  int output_ = -1;
  termios before_{};
};

}  // namespace deputy
