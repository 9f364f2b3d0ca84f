// A terminal that the test holds both ends of. It is read by nobody but the test, and it can be stopped as by
// Ctrl-S. Who waits for bytes that never come fails after a minute.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

namespace deputy {

class PseudoTerminal {
 public:
  PseudoTerminal() : reader_(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)) {
    ::grantpt(reader_);
    ::unlockpt(reader_);
    program_ = ::open(::ptsname(reader_), O_RDWR | O_NOCTTY | O_CLOEXEC);
  }
  ~PseudoTerminal() {
    ::close(program_);
    ::close(reader_);
  }
  PseudoTerminal(const PseudoTerminal&) = delete;

  int program() const { return program_; }  // the end that a program has
  // Bytes come as they were written.
  void make_raw() const {
    termios mode{};
    EXPECT_EQ(::tcgetattr(program_, &mode), 0);
    ::cfmakeraw(&mode);
    EXPECT_EQ(::tcsetattr(program_, TCSANOW, &mode), 0);
  }
  // As when its window is closed.
  void hang_up() { ::close(std::exchange(reader_, -1)); }
  void stop() const { EXPECT_EQ(::tcflow(program_, TCOOFF), 0); }
  void go_on() const { EXPECT_EQ(::tcflow(program_, TCOON), 0); }
  void type(std::string_view keys) const {
    EXPECT_EQ(::write(reader_, keys.data(), keys.size()), static_cast<ssize_t>(keys.size()));
  }
  // As type(), of whole lines: until the program's end has them, in the mode that holds now.
  void enter(std::string_view lines) const {
    type(lines);
    pollfd asked{program_, POLLIN, 0};
    int there = 0;
    while (there < static_cast<int>(lines.size()) && ::poll(&asked, 1, kMostMillisecondsToWait) > 0)
      ASSERT_EQ(::ioctl(program_, FIONREAD, &there), 0);
    EXPECT_EQ(there, static_cast<int>(lines.size()));
  }
  // What there is to read; waits for some.
  std::string read() const {
    pollfd asked{reader_, POLLIN, 0};
    if (::poll(&asked, 1, kMostMillisecondsToWait) <= 0) {
      ADD_FAILURE() << "nothing has come for " << kMostMillisecondsToWait << " ms";
      return {};
    }
    char bytes[4096];
    const ssize_t count = ::read(reader_, bytes, sizeof bytes);
    EXPECT_GT(count, 0);
    return {bytes, static_cast<std::size_t>(count > 0 ? count : 0)};
  }
  std::string read_until(std::string_view text) const {
    std::string shown;
    while (!shown.contains(text) && !::testing::Test::HasFailure()) shown += read();
    EXPECT_TRUE(shown.contains(text)) << "no \"" << text << "\" in:\n" << shown;
    return shown;
  }

 private:
  static constexpr int kMostMillisecondsToWait = 60'000;
  int reader_;
  int program_ = -1;
};

}  // namespace deputy
