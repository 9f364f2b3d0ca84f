#include "app/streams.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <thread>

#include "support/pseudo_terminal.h"

namespace deputy {
namespace {

class ATerminalThatTakesNothing : public ::testing::Test {
 protected:
  ATerminalThatTakesNothing() { terminal_.make_raw(); }
  // The first so many bytes of what it shows once it takes what there is.
  std::string shown(std::size_t bytes) { return shown(out_, bytes); }
  std::string shown(OutStream& out, std::size_t bytes) {
    std::string text;
    while (!out.catch_up() && !HasFailure()) text += terminal_.read();
    while (text.size() < bytes && !HasFailure()) text += terminal_.read();
    return text;
  }
  PseudoTerminal terminal_;
  OutStream out_{terminal_.program()};
};

TEST_F(ATerminalThatTakesNothing, HoldsNobodyUpAndGetsAllOfItInOrder) {
  std::string text;
  for (int line = 0; line < 20'000; ++line) text += fmt::format("line {}\n", line);
  out_.offer(text);
  EXPECT_TRUE(out_.is_behind()) << "nobody has read";
  out_.offer("the end\n");
  EXPECT_EQ(shown(text.size() + 8), text + "the end\n");
  EXPECT_FALSE(out_.is_behind());
}

TEST(ATerminalWithoutUtf8, IsSentAsciiAloneAndItsEscapesAsTheyAre) {
  PseudoTerminal terminal;
  terminal.make_raw();
  OutStream out(terminal.program(), left_out_line, TerminalLetters::ascii);
  out.write("\x1b[32m✓\x1b[0m done — “so” 日\r\n");
  EXPECT_EQ(terminal.read_until("\n"), "\x1b[32m+\x1b[0m done - \"so\" ??\r\n");
  out.offer("→ … ⚠ ⚠\uFE0F\n");
  EXPECT_EQ(terminal.read_until("\n"), "-> ... ! !\n");
}

TEST(ATerminalWithUtf8, IsSentWhatIsWritten) {
  PseudoTerminal terminal;
  terminal.make_raw();
  OutStream out(terminal.program());
  out.write("✓ —\n");
  EXPECT_EQ(terminal.read_until("\n"), "✓ —\n");
}

TEST(APipe, HasItsBytesWhateverATerminalCouldShow) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  OutStream out(ends[1], left_out_line, TerminalLetters::ascii);
  out.write("✓ —\n");
  std::array<char, 16> buffer;
  const ssize_t count = ::read(ends[0], buffer.data(), buffer.size());
  EXPECT_EQ(std::string(buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0))), "✓ —\n");
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_F(ATerminalThatTakesNothing, IsTriedAgain) {
  terminal_.stop();
  out_.offer("a");
  EXPECT_FALSE(out_.catch_up());
  EXPECT_TRUE(out_.is_behind());
  terminal_.go_on();
  EXPECT_TRUE(out_.catch_up());
  EXPECT_EQ(terminal_.read(), "a");
}

TEST_F(ATerminalThatTakesNothing, IsWaitedForByWhatIsWritten) {
  terminal_.stop();
  out_.offer("first\n");
  terminal_.go_on();
  out_.write("second\n");
  EXPECT_EQ(terminal_.read_until("second\n"), "first\nsecond\n");
}

TEST_F(ATerminalThatTakesNothing, IsToldWhatWasLeftOutBeyondAMebibyte) {
  const std::string half = std::string(OutStream::kMostBehind / 2 - 1, 'x') + "\n";
  terminal_.stop();
  out_.offer(half);
  out_.offer(half);  // to the last byte
  terminal_.go_on();
  EXPECT_EQ(shown(2 * half.size()), half + half);

  terminal_.stop();
  out_.offer(half);
  out_.offer("\n" + half);  // one too many
  out_.offer("there would be room for this\n");
  terminal_.go_on();
  const std::string told = "deputy: 3 lines are left out here, as the terminal took nothing for a while\n";
  EXPECT_EQ(shown(half.size() + told.size()), half + told);
}

TEST_F(ATerminalThatTakesNothing, IsToldAsAnEventWhereEveryLineIsOne) {
  OutStream events(terminal_.program(), left_out_event);
  const std::string most = std::string(OutStream::kMostBehind - 1, 'x') + "\n";
  terminal_.stop();
  events.offer(most);
  events.offer("one too many\n");
  terminal_.go_on();
  const std::string told = "{\"v\":1,\"event\":\"left_out\",\"lines\":1}\n";
  EXPECT_EQ(shown(events, most.size() + told.size()), most + told);
}

TEST_F(ATerminalThatTakesNothing, IsGivenAMomentAtTheEndAndNotMore) {
  terminal_.stop();
  out_.offer("first\n");
  EXPECT_FALSE(out_.catch_up_in_a_moment());
  out_.wait_no_longer();
  out_.write("second\n");  // would wait for ever
  EXPECT_TRUE(out_.is_behind());
  terminal_.go_on();
  EXPECT_TRUE(out_.catch_up_in_a_moment());
  out_.write("third\n");
  EXPECT_EQ(terminal_.read_until("third\n"), "first\nsecond\nthird\n");
}

// As over a bad connection: less than the moment passes between two bytes, and more than that in all. What
// takes nothing for a moment is the test above.
using ASlowTerminalRealTime = ATerminalThatTakesNothing;

TEST_F(ASlowTerminalRealTime, HasAnotherMomentWheneverItTakesSomething) {
  const std::string text(40UL * 1024, 'x');
  std::string shown;
  out_.wait_no_longer();
  std::thread reader([&] {
    while (shown.size() < text.size() && !HasFailure()) {
      ::poll(nullptr, 0, 100);
      shown += terminal_.read();
    }
  });
  out_.write(text);
  EXPECT_FALSE(out_.is_behind());
  reader.join();
  EXPECT_TRUE(shown == text);
}

TEST_F(ATerminalThatTakesNothing, StaysAsItWasForAllWhoShareIt) {
  out_.offer("a");
  EXPECT_EQ(::fcntl(terminal_.program(), F_GETFL) & O_NONBLOCK, 0);
}

TEST(OutStream, WhatIsNoTerminalIsWaitedFor) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  OutStream out(ends[1]);
  out.offer("at once\n");
  EXPECT_FALSE(out.is_behind());
  char bytes[16];
  EXPECT_EQ(::read(ends[0], bytes, sizeof bytes), 8);
  for (const int end : ends) ::close(end);
}

// How a process ended that wrote more than fits into what nobody reads, and that was told to end while such
// signals were blocked, as they are where they are values on a loop.
int end_of_a_writer(int descriptor) {
  sigset_t ending;
  sigset_t before;
  sigemptyset(&ending);
  sigaddset(&ending, SIGTERM);
  ::sigprocmask(SIG_BLOCK, &ending, &before);
  const pid_t writer = ::fork();
  if (writer == 0) {
    ::alarm(60);  // rather than for ever
    OutStream(descriptor).write(std::string(4UL * 1024 * 1024, 'x'));
    ::_exit(0);
  }
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  ::kill(writer, SIGTERM);
  int status = 0;
  EXPECT_EQ(::waitpid(writer, &status, 0), writer);
  return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

TEST(OutStream, HasNoRoomSoonWhereNobodyReads) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const OutStream out(ends[1]);
  EXPECT_TRUE(out.has_room_soon());
  ASSERT_EQ(::fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
  const std::string page(4096, 'x');
  while (::write(ends[1], page.data(), page.size()) > 0) {
  }
  EXPECT_FALSE(out.has_room_soon());
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(OutStream, KnowsThatNobodyReadsBeforeAnythingIsWritten) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const OutStream out(ends[1]);
  EXPECT_TRUE(out.can_be_read());
  ::close(ends[0]);
  EXPECT_FALSE(out.can_be_read());
  EXPECT_FALSE(out.is_reader_gone()) << "nothing was written for it";
  ::close(ends[1]);
}

TEST(OutStream, WhoWritesWhatNobodyReadsIsEndedByASignal) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  EXPECT_EQ(end_of_a_writer(ends[1]), SIGTERM);
  for (const int end : ends) ::close(end);
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  EXPECT_EQ(end_of_a_writer(ends[1]), SIGTERM) << "a socket";
  for (const int end : ends) ::close(end);
}

TEST(OutStream, WhoWritesWhatNobodyReadsIsStoppedByASignalAndGoesOnWriting) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  sigset_t stopping;
  sigset_t before;
  sigemptyset(&stopping);
  sigaddset(&stopping, SIGTSTP);
  ::sigprocmask(SIG_BLOCK, &stopping, &before);
  const std::string text(4UL * 1024 * 1024, 'x');
  const pid_t writer = ::fork();
  if (writer == 0) {
    ::alarm(60);  // rather than for ever
    ::close(ends[0]);
    ::setpgid(0, 0);  // of one that has a parent beside it, as a shell's are
    ::raise(SIGTSTP);
    OutStream(ends[1]).write(text);
    ::_exit(0);
  }
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  ::close(ends[1]);
  int status = 0;
  ASSERT_EQ(::waitpid(writer, &status, WUNTRACED), writer);
  EXPECT_TRUE(WIFSTOPPED(status)) << status;
  ::kill(writer, SIGCONT);
  std::size_t arrived = 0;
  std::array<char, 65536> bytes;
  for (ssize_t count = 0; (count = ::read(ends[0], bytes.data(), bytes.size())) > 0;)
    arrived += static_cast<std::size_t>(count);
  EXPECT_EQ(arrived, text.size());
  EXPECT_EQ(::waitpid(writer, &status, 0), writer);
  ::close(ends[0]);
}

TEST(ReadWhatIsThere, WaitsForNoTerminalAndLeavesItAsItWas) {
  const PseudoTerminal terminal;
  std::array<char, 16> bytes;
  ::alarm(60);  // rather than for ever
  EXPECT_EQ(read_what_is_there(terminal.program(), bytes), -1);
  EXPECT_EQ(errno, EAGAIN);
  ::alarm(0);
  terminal.type("y\n");
  EXPECT_EQ(read_what_is_there(terminal.program(), bytes), 2);
  EXPECT_EQ(std::string_view(bytes.data(), 2), "y\n");
  EXPECT_EQ(::fcntl(terminal.program(), F_GETFL) & O_NONBLOCK, 0);
}

TEST(OutStream, WhatFitsIntoNoPipeArrivesWholeAndInOrder) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  std::string text;
  for (int line = 0; line < 50'000; ++line) text += fmt::format("line {}\n", line);
  std::string arrived;
  std::thread reader([&] {
    char bytes[4096];
    for (ssize_t count = 0; (count = ::read(ends[0], bytes, sizeof bytes)) > 0;)
      arrived.append(bytes, static_cast<std::size_t>(count));
  });
  OutStream(ends[1]).write(text);
  ::close(ends[1]);
  reader.join();
  ::close(ends[0]);
  EXPECT_TRUE(arrived == text);
}

}  // namespace
}  // namespace deputy
