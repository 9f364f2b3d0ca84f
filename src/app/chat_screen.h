// What the chat shows, on the terminal: drawn soon after a change, seldom enough for any terminal, and once a
// second while time is on the screen. An idle chat wakes nobody. A terminal that takes nothing holds nobody
// up: it is shown how things stand once it takes something again. The terminal is as it was again when this
// is destroyed, and after a crash.
#pragma once

#include <optional>

#include "app/crash_restore.h"
#include "app/frames.h"
#include "app/program.h"
#include "tui/chat.h"
#include "tui/live_region.h"
#include "tui/plain_surface.h"

namespace deputy {

class ChatScreen {
 public:
  // In plain lines where the program's looks say so.
  static Result<std::unique_ptr<ChatScreen>> open(Program& program, ChatState& state);
  ~ChatScreen();
  ChatScreen(const ChatScreen&) = delete;

  void draw_soon() { frames_.draw_soon(); }
  void draw();
  void resize();
  void clear();
  // Leaves the terminal to the shell. Not where it takes nothing: who leaves it would wait for it.
  bool step_aside();
  // It is this program's again, and others may have written on it since.
  void come_back();
  // No key is read any more: by Ctrl-C there comes a signal.
  void leave_keys();
  // Takes the frame away; what is finished stays.
  void finish();

  PlainSurface* plain() { return plain_ ? &*plain_ : nullptr; }

 private:
  ChatScreen(Program& program, ChatState& state)
      : program_(program), state_(state), region_(program.looks.out) {}
  std::string next_bytes();
  void draw_again_later();

  Program& program_;
  ChatState& state_;
  LiveRegion region_;
  std::optional<PlainSurface> plain_;
  std::optional<RawTerminal> terminal_;
  std::optional<CrashRestore> crash_restore_;
  Frames frames_{program_.loop, [this] { draw(); }};
  std::optional<TimerId> later_;
  bool reads_keys_ = true;
};

}  // namespace deputy
