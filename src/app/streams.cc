#include "app/streams.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <utility>

#include "base/json.h"
#include "base/text.h"
#include "tui/style.h"

namespace deputy {

namespace {

// A terminal has room for a few kilobytes and, while somebody reads it, for more at once: what takes
// something is worth a moment, what takes nothing is not.
constexpr int kMostWaits = 5;
constexpr int kWaitMilliseconds = 1;
// Before what it has not taken is lost.
constexpr int kMostLastTries = 25;
constexpr int kLastTryMilliseconds = 10;
// Who takes nothing for so long may never take anything.
constexpr int kStandsStillMilliseconds = 250;

// Another way to a terminal; below 0 where there is none. Not by a flag of the descriptor: that would hold
// for all who share it, the shell among them.
enum class Way { in, out };
int without_waiting(int descriptor, Way way) {
  if (::isatty(descriptor) != 1) return -1;
  const std::string path = fmt::format("/proc/self/fd/{}", descriptor);
  const int access = way == Way::in ? O_RDONLY : O_WRONLY;                  // seam: no file of ours
  return ::open(path.c_str(), access | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);  // seam: no file of ours
}

bool has_room_for_a_line(int descriptor) {
  pollfd asked{descriptor, POLLOUT, 0};
  return ::poll(&asked, 1, kStandsStillMilliseconds) > 0;
}

// Waits for as long as it takes. The loop stands still meanwhile, and with it the signals that are values on
// it: once nobody seems to read, the process dies of them again, or is stopped by one.
bool has_room(int descriptor) {
  if (has_room_for_a_line(descriptor)) return true;
  pollfd asked{descriptor, POLLOUT, 0};
  sigset_t blocked;
  ::sigprocmask(SIG_BLOCK, nullptr, &blocked);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGTSTP}) sigdelset(&blocked, number);
  return ::ppoll(&asked, 1, nullptr, &blocked) > 0;
}

}  // namespace

std::string left_out_line(std::size_t lines) {
  return fmt::format("deputy: {} line{} left out here, as the terminal took nothing for a while\n",
                     with_thousands(lines), lines == 1 ? " is" : "s are");
}

std::string left_out_event(std::size_t lines) {
  return to_json_text(json::object{{"v", 1}, {"event", "left_out"}, {"lines", lines}}) + "\n";
}

OutStream::OutStream(int descriptor, LeftOutNotice notice, TerminalLetters letters)
    : descriptor_(descriptor),
      notice_(notice),
      is_ascii_(letters == TerminalLetters::ascii && ::isatty(descriptor) == 1) {}

OutStream::~OutStream() {
  if (terminal_.value_or(-1) >= 0) ::close(*terminal_);
}

void OutStream::close(int error) {
  is_closed_ = true;
  behind_.clear();
  if (error != EPIPE) failure_ = error_from_errno(error, "write the output");
}

bool OutStream::is_terminal() {
  if (!terminal_) terminal_ = without_waiting(descriptor_, Way::out);
  return *terminal_ >= 0;
}

bool OutStream::has_room_soon() const { return has_room_for_a_line(descriptor_); }

bool OutStream::can_be_read() const {
  pollfd asked{descriptor_, 0, 0};
  const bool is_broken = ::poll(&asked, 1, 0) > 0 && (asked.revents & POLLERR) != 0;
  return !is_closed_ && !is_broken;
}

void OutStream::write(std::string_view text) {
  is_ascii_ ? write_bytes(in_ascii(to_utf8(text))) : write_bytes(text);
}

void OutStream::offer(std::string_view text) {
  is_ascii_ ? offer_bytes(in_ascii(to_utf8(text))) : offer_bytes(text);
}

void OutStream::write_bytes(std::string_view text) {
  if (!waits_ && is_terminal()) {
    offer_bytes(text);
    catch_up_in_a_moment();
    return;
  }
  if (is_behind()) write_all(std::exchange(behind_, {}) + take_left_out());
  write_all(text);
}

std::string OutStream::take_left_out() {
  const std::size_t lines = std::exchange(left_out_, 0);
  return lines == 0 ? "" : notice_(lines);
}

void OutStream::write_all(std::string_view text) {
  while (!text.empty() && !is_closed_) {
    if (!has_room(descriptor_)) continue;
    // A pipe that has room takes so much without waiting.
    const ssize_t count = ::write(descriptor_, text.data(), std::min<std::size_t>(text.size(), PIPE_BUF));
    if (count > 0) {
      text.remove_prefix(static_cast<std::size_t>(count));
    } else if (errno != EINTR && errno != EAGAIN) {  // it may be non-blocking by somebody before us
      close(errno);
    }
  }
}

void OutStream::offer_bytes(std::string_view text) {
  if (text.empty() || is_closed_) return;
  if (!is_terminal()) return write_bytes(text);
  // Who offers to a terminal that is behind tries again by and by: a moment for each offer would add up.
  const int most_waits = is_behind() ? 0 : kMostWaits;
  try_all(most_waits);
  // What follows on what was left out would stand before the word that it was.
  if (is_behind() && (left_out_ > 0 || behind_.size() + text.size() > kMostBehind)) {
    left_out_ += static_cast<std::size_t>(std::ranges::count(text, '\n'));
    return;
  }
  behind_ += text;
  try_all(most_waits);
}

bool OutStream::catch_up() { return try_all(kMostWaits); }

bool OutStream::catch_up_in_a_moment() {
  std::uint64_t before = taken_;
  for (int tries = 0; !catch_up() && tries < kMostLastTries; ++tries) {
    if (std::exchange(before, taken_) != taken_) tries = 0;
    pollfd asked{*terminal_, POLLOUT, 0};
    ::poll(&asked, 1, kLastTryMilliseconds);
  }
  return !is_behind();
}

bool OutStream::try_all(int most_waits) {
  int waits_left = 0;
  while (is_behind()) {
    const ssize_t count = ::write(*terminal_, behind_.data(), behind_.size());
    if (count > 0) {
      behind_.erase(0, static_cast<std::size_t>(count));
      taken_ += static_cast<std::uint64_t>(count);
      if (waits_left == 0) waits_left = most_waits;
    } else if (count == 0 || errno == EAGAIN) {
      pollfd asked{*terminal_, POLLOUT, 0};
      if (--waits_left <= 0 || ::poll(&asked, 1, kWaitMilliseconds) <= 0) return false;
    } else if (errno != EINTR) {
      close(errno);
    }
    if (!is_behind() && !is_closed_) behind_ = take_left_out();
  }
  return true;
}

void OutStream::write_line(std::string_view text) {
  std::string line(text);
  if (!line.ends_with('\n')) line += '\n';
  write(line);
}

void keep_standard_streams() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(descriptor, F_GETFD) >= 0 || errno != EBADF) continue;
    // The lowest free number is taken, which is this one.
    if (::open("/dev/null", O_RDWR) < 0) return;  // seam: this is no file of ours
  }
}

ssize_t read_what_is_there(int descriptor, std::span<char> buffer) {
  const int terminal = without_waiting(descriptor, Way::in);
  const ssize_t count = ::read(terminal < 0 ? descriptor : terminal, buffer.data(), buffer.size());
  const int error = errno;
  if (terminal >= 0) ::close(terminal);
  errno = error;
  return count;
}

Result<std::string> read_stdin(std::size_t most) {
  std::string text;
  std::array<char, 65536> buffer;
  for (;;) {
    const ssize_t count = ::read(STDIN_FILENO, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) {
      pollfd asked{STDIN_FILENO, POLLIN, 0};
      ::poll(&asked, 1, -1);
      continue;
    }
    if (count < 0) return std::unexpected(error_from_errno(errno, "read stdin"));
    if (count == 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(count));
    if (text.size() > most) {
      return fail(ErrorCode::exhausted,
                  fmt::format("what came on stdin is larger than {} bytes", with_thousands(most)),
                  "put large material into files for the agent to read");
    }
  }
}

}  // namespace deputy
