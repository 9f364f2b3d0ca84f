#include "tui/raw_terminal.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <utility>

namespace deputy {
namespace {

// Whatever a frame was in the middle of: wrapping on, the cursor shown, no tone.
constexpr std::string_view kUsual = "\x1b[?2004l\x1b[?7h\x1b[?25h\x1b[0m";

// A terminal that takes nothing holds up nobody who leaves it.
constexpr int kMostMillisecondsToLeave = 250;

bool has_room(int descriptor) {
  pollfd asked{descriptor, POLLOUT, 0};
  return ::poll(&asked, 1, kMostMillisecondsToLeave) != 0;  // seam: also in a signal handler, without a loop
}

void write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
}

}  // namespace

bool is_in_background(int terminal) {
  const pid_t foreground = ::tcgetpgrp(terminal);
  return foreground > 0 && foreground != ::getpgrp();
}

Result<RawTerminal> RawTerminal::take(int input, int output, Keys keys) {
  termios before{};
  if (::tcgetattr(input, &before) != 0) return std::unexpected(error_from_errno(errno, "use the terminal"));
  RawTerminal terminal(input, output, keys, before);
  terminal.enter();
  return terminal;
}

RawTerminal::RawTerminal(RawTerminal&& other) noexcept
    : input_(std::exchange(other.input_, -1)),
      output_(other.output_),
      keys_(other.keys_),
      before_(other.before_) {}

RawTerminal::~RawTerminal() { restore(); }

termios RawTerminal::raw() const {
  termios raw = before_;
  raw.c_iflag &= ~static_cast<tcflag_t>(ICRNL | INLCR | IGNCR | IXON | ISTRIP);
  raw.c_lflag &= ~static_cast<tcflag_t>(ECHO | ECHONL | ICANON | ISIG | IEXTEN);
  raw.c_cc[VMIN] = 1;
  raw.c_cc[VTIME] = 0;
  return raw;
}

termios RawTerminal::unseen() const {
  termios unseen = before_;
  unseen.c_lflag &= ~static_cast<tcflag_t>(ECHO | ECHONL);
  return unseen;
}

void RawTerminal::enter() const {
  const termios mode = keys_ == Keys::each ? raw() : unseen();
  ::tcsetattr(input_, TCSANOW, &mode);
}

void RawTerminal::leave_keys() const {
  termios mode = raw();
  mode.c_lflag |= ISIG | NOFLSH;
  mode.c_cc[VINTR] = 'C' - '@';
  mode.c_cc[VQUIT] = mode.c_cc[VSUSP] = _POSIX_VDISABLE;
  ::tcsetattr(input_, TCSANOW, &mode);
}

void RawTerminal::show_keys() const {
  if (!is_in_background(input_)) ::tcsetattr(input_, TCSANOW, &before_);
}

void RawTerminal::restore() const {
  if (input_ < 0 || is_in_background(input_)) return;
  const bool takes_bytes = has_room(output_);
  if (takes_bytes) write_all(output_, kUsual);
  // What was written goes out in the mode that it was written for; on a line that stands still it never does.
  ::tcsetattr(input_, takes_bytes ? TCSADRAIN : TCSANOW, &before_);
}

}  // namespace deputy
