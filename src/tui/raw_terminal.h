// A terminal in another mode than its ordinary one: it hands over every key as it is typed, with pastes
// marked where it was sent the bytes for that, or it takes lines as ever and shows nothing of them. It is as
// it was again when this is destroyed, or on restore(), which may be called from a signal handler. Nothing
// here waits for a terminal that takes nothing, nor gives back one that others have by now.
#pragma once

#include <termios.h>

#include <string_view>

#include "base/result.h"

namespace deputy {

// Whether others have the terminal meanwhile, such as a shell that somebody types to. Who changes its mode
// then is stopped.
bool is_in_background(int terminal);

class RawTerminal {
 public:
  // Each one as it is typed, also those that are signals otherwise / lines, signals and all, without an echo.
  enum class Keys { each, unseen };
  static Result<RawTerminal> take(int input, int output, Keys keys = Keys::each);
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
  // What is typed is shown, until the next enter(). Nothing is written.
  void show_keys() const;

 private:
  termios raw() const;
  termios unseen() const;
  RawTerminal(int input, int output, Keys keys, const termios& before)
      : input_(input), output_(output), keys_(keys), before_(before) {}
  int input_ = -1;
  int output_ = -1;
  Keys keys_ = Keys::each;
  termios before_{};
};

}  // namespace deputy
