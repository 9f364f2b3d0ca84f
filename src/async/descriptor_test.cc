#include "async/descriptor.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <vector>

#include "async/sleep.h"
#include "async/task_group.h"
#include "gtest/gtest.h"
#include "support/run.h"

namespace deputy {
namespace {

using std::chrono::milliseconds;

class Pipe {
 public:
  Pipe() { EXPECT_EQ(::pipe2(ends_, O_CLOEXEC), 0); }
  ~Pipe() { close_reader(), close_writer(); }
  int reader() const { return ends_[0]; }
  int writer() const { return ends_[1]; }
  void write(const std::string& text) {
    EXPECT_EQ(::write(ends_[1], text.data(), text.size()), ssize_t(text.size()));
  }
  void close_reader() { close_one(ends_[0]); }
  void close_writer() { close_one(ends_[1]); }

 private:
  static void close_one(int& end) {
    if (end >= 0) ::close(end);
    end = -1;
  }
  int ends_[2] = {-1, -1};
};

std::size_t open_descriptors() {
  std::size_t count = 0;
  for (int fd = 0; fd < 256; ++fd) count += ::fcntl(fd, F_GETFD) >= 0;
  return count;
}

TEST(WaitReadable, ReturnsWhenSomethingIsThereEachTimeUntilItIsRead) {
  SystemLoop loop;
  Pipe pipe;
  pipe.write("x");
  const auto before = open_descriptors();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(run(loop, wait_readable(loop, pipe.reader(), {})), Readiness::ready);
  EXPECT_EQ(open_descriptors(), before);
  char byte = 0;
  EXPECT_EQ(::read(pipe.reader(), &byte, 1), 1);
}

TEST(WaitReadable, ReturnsWhenTheOtherEndCloses) {
  SystemLoop loop;
  Pipe pipe;
  loop.timers().call_at(loop.clock().now() + milliseconds(1), [&] { pipe.close_writer(); });
  EXPECT_EQ(run(loop, wait_readable(loop, pipe.reader(), {})), Readiness::ready);
}

TEST(WaitReadable, WaitsForWhatIsWrittenLater) {
  SystemLoop loop;
  Pipe pipe;
  bool written = false;
  loop.timers().call_at(loop.clock().now() + milliseconds(1), [&] {
    pipe.write("x");
    written = true;
  });
  EXPECT_EQ(run(loop, wait_readable(loop, pipe.reader(), {})), Readiness::ready);
  EXPECT_TRUE(written);
}

TEST(WaitReadable, AStopEndsTheWait) {
  SystemLoop loop;
  Pipe pipe;
  StopSource source;
  source.set_deadline(loop.timers(), loop.clock().now() + milliseconds(1));
  EXPECT_EQ(run(loop, wait_readable(loop, pipe.reader(), source.token())), Readiness::stopped);
  EXPECT_EQ(run(loop, wait_readable(loop, pipe.reader(), source.token())), Readiness::stopped);
  pipe.write("x");
  EXPECT_EQ(run(loop, wait_readable(loop, pipe.reader(), {})), Readiness::ready);
}

TEST(WaitReadable, ReturnsWhenAProcessEnds) {
  SystemLoop loop;
  Pipe pipe;
  const pid_t pid = ::fork();
  if (pid == 0) {
    pipe.close_writer();
    char byte = 0;
    _exit(::read(pipe.reader(), &byte, 1) == 0 ? 7 : 8);
  }
  const int pidfd = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
  ASSERT_GE(pidfd, 0);
  loop.timers().call_at(loop.clock().now() + milliseconds(1), [&] { pipe.close_writer(); });
  EXPECT_EQ(run(loop, wait_readable(loop, pidfd, {})), Readiness::ready);
  siginfo_t info{};
  EXPECT_EQ(::waitid(P_PIDFD, pidfd, &info, WEXITED | WNOHANG), 0);
  EXPECT_EQ(info.si_status, 7);
  ::close(pidfd);
}

Task<> note(SystemLoop& loop, int descriptor, StopToken stop, std::vector<Readiness>* seen) {
  seen->push_back(co_await wait_readable(loop, descriptor, stop));
}

Task<> two_waits(SystemLoop& loop, Pipe& pipe, std::vector<Readiness>* seen) {
  const StopSource source;
  TaskGroup group(loop);
  group.spawn(note(loop, pipe.reader(), source.token(), seen));
  group.spawn(note(loop, pipe.reader(), {}, seen));
  co_await sleep_for(loop, milliseconds(1), {});
  source.request(StopReason::user);
  co_await sleep_for(loop, milliseconds(1), {});
  pipe.write("x");
  co_await group.join();
}

TEST(WaitReadable, TwoMayWaitForTheSameDescriptorAndOneMayStop) {
  SystemLoop loop;
  Pipe pipe;
  std::vector<Readiness> seen;
  run(loop, two_waits(loop, pipe, &seen));
  EXPECT_EQ(seen, (std::vector{Readiness::stopped, Readiness::ready}));
}

TEST(WaitReadable, TheOwnerMayCloseItsDescriptorMeanwhile) {
  SystemLoop loop;
  Pipe pipe;
  loop.timers().call_at(loop.clock().now() + milliseconds(1), [&] {
    pipe.close_reader();
    pipe.close_writer();
  });
  EXPECT_EQ(run(loop, wait_readable(loop, pipe.reader(), {})), Readiness::ready);
}

// A shell that has the terminal meanwhile would be told that nothing is there to read.
TEST(WaitReadable, LeavesTheDescriptorAsItIsForAllWhoShareItAlsoWhileItWaits) {
  SystemLoop loop;
  Pipe pipe;
  int flags = -1;
  loop.timers().call_at(loop.clock().now() + milliseconds(1), [&] {
    flags = ::fcntl(pipe.reader(), F_GETFL);
    pipe.write("x");
  });
  EXPECT_EQ(run(loop, wait_readable(loop, pipe.reader(), {})), Readiness::ready);
  EXPECT_EQ(flags & O_NONBLOCK, 0);
  EXPECT_EQ(::fcntl(pipe.reader(), F_GETFL), flags);
}

TEST(WaitReadable, AFileIsAlwaysReady) {
  SystemLoop loop;
  const int file = ::open("/etc/passwd", O_RDONLY | O_CLOEXEC);
  ASSERT_GE(file, 0);
  EXPECT_EQ(run(loop, wait_readable(loop, file, {})), Readiness::ready);
  ::close(file);
}

}  // namespace
}  // namespace deputy
