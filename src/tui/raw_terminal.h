// A terminal that hands over every key as it is typed, with pastes marked where it was sent the bytes for
// that. It is as it was again when this is destroyed, or on restore(), which may be called from a signal
// handler. Nothing here waits for a terminal that takes nothing.
#pragma once

#include <termios.h>

#include <string_view>

#include "base/result.h"

namespace deputy {

class RawTerminal {
 public:
  static Result<RawTerminal> take(int input, int output);
  RawTerminal(RawTerminal&& other) noexcept;
  RawTerminal& operator=(RawTerminal&&) = delete;
  ~RawTerminal();

  // For whoever writes to it, after each enter().
  static constexpr std::string_view kMarkPastes = "\x1b[?2004h";

  // Into the ordinary mode for a while, and back.
  void restore() const;
  void enter() const;
  // What is typed is left for whoever has the terminal next, except that Ctrl-C is a signal.
  void leave_keys() const;

 private:
  termios raw() const;
  RawTerminal(int input, int output, const termios& before)
      : input_(input), output_(output), before_(before) {}
  int input_ = -1;
  int output_ = -1;
  termios before_{};
};

}  // namespace deputy
