// The filter alone, tried by raw system calls in a child. What perl can try stands in
// processes_confinement_test.cc.
#include "sandbox/init/filter.h"

#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "gtest/gtest.h"

namespace deputy::init {
namespace {

// The errno with which `call` fails under the filter; 0 when it succeeds.
template <class Call>
int error_of(Call call, FilterRules rules = {}) {
  const pid_t child = ::fork();
  if (child == 0) {
    rules.init = ::getppid();
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || !Filter(rules).install()) _exit(250);
    const long result = call();
    _exit(result >= 0 ? 0 : static_cast<int>(-result));
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  return WEXITSTATUS(status);
}

template <class... Arguments>
int error_of_call(long number, Arguments... arguments) {
  return error_of([=]() -> long {
    const long result = ::syscall(number, arguments...);
    return result < 0 ? -errno : result;
  });
}

TEST(Filter, LetsOrdinaryCallsPass) {
  EXPECT_EQ(error_of_call(SYS_getpid), 0);
  EXPECT_EQ(error_of_call(SYS_openat, AT_FDCWD, "/dev/null", O_WRONLY | O_TRUNC), 0);
  EXPECT_EQ(error_of([] { return long{::getpid() > 0 ? ::kill(::getpid(), 0) : -1}; }), 0);
  EXPECT_EQ(error_of_call(SYS_prlimit64, 0, 0, nullptr, nullptr), 0);
}

#if defined(__x86_64__)
long by_int_0x80(long number, long first, long second, long third) {
  long result = 0;
  asm volatile("int $0x80"
               : "=a"(result)
               : "a"(number), "b"(first), "c"(second), "d"(third)
               : "memory", "r8", "r9", "r10", "r11");
  return result;
}

TEST(Filter, RefusesTheSystemCallsOfOtherArchitectures) {
  EXPECT_EQ(error_of([] { return by_int_0x80(359, 2, 1, 0); }), EPERM);  // socket
  EXPECT_EQ(error_of([] { return by_int_0x80(20, 0, 0, 0); }), EPERM);   // getpid: none of them passes
  EXPECT_EQ(error_of_call(0x40000000 + SYS_getpid), EPERM);              // x32
}

TEST(Filter, RefusesToTruncateThroughOldOpen) {
  EXPECT_EQ(error_of_call(SYS_open, "/dev/null", O_RDONLY | O_TRUNC), EPERM);
}
#endif

TEST(Filter, RefusesToTruncateByOpeningForReading) {
  EXPECT_EQ(error_of_call(SYS_openat, AT_FDCWD, "/dev/null", O_RDONLY | O_TRUNC), EPERM);
  EXPECT_EQ(error_of_call(SYS_openat, AT_FDCWD, "/dev/null", O_ACCMODE | O_TRUNC), EPERM);
}

// Every call that can give a file a mode, whichever namespaces it is in. -1 is no folder and no descriptor:
// what passes the filter fails otherwise.
TEST(Filter, NobodyGetsTheOwnersRights) {
  for (const bool isolated : {false, true}) {
    const auto error = [&](long call, auto... arguments) {
      return error_of(
          [=]() -> long {
            const long result = ::syscall(call, arguments...);
            return result < 0 ? -errno : 0;
          },
          {.isolated = isolated, .truncation = true});
    };
    for (const int mode : {04755, 02755, 06755, S_IFREG | 04000}) {
      EXPECT_EQ(error(SYS_fchmod, -1, mode), EPERM);
      EXPECT_EQ(error(SYS_fchmodat, -1, "x", mode), EPERM);
      EXPECT_EQ(error(452 /* fchmodat2 */, -1, "x", mode, 0), EPERM);
      EXPECT_EQ(error(SYS_mknodat, -1, "x", mode, 0), EPERM);
      EXPECT_EQ(error(SYS_openat, -1, "x", O_WRONLY | O_CREAT, mode), EPERM);
      EXPECT_EQ(error(SYS_openat, -1, "x", O_WRONLY | O_TMPFILE, mode), EPERM);
      EXPECT_EQ(error(SYS_openat, -1, "x", O_RDONLY | O_DIRECTORY, mode), EBADF) << "nothing is made";
#if defined(__x86_64__)
      EXPECT_EQ(error(SYS_chmod, "/nonexistent/x", mode), EPERM);
      EXPECT_EQ(error(SYS_creat, "/nonexistent/x", mode), EPERM);
      EXPECT_EQ(error(SYS_mknod, "/nonexistent/x", mode, 0), EPERM);
      EXPECT_EQ(error(SYS_open, "/nonexistent/x", O_WRONLY | O_CREAT, mode), EPERM);
#endif
    }
    EXPECT_EQ(error(SYS_openat, -1, "x", O_WRONLY | O_CREAT, 01777), EBADF);
    EXPECT_EQ(error(SYS_openat, -1, "x", O_RDONLY | O_CREAT | O_TRUNC, 0600), EPERM) << "it would truncate";
  }
}

TEST(Filter, SaysThatItDoesNotHaveWhatItCannotLookInto) {
  EXPECT_EQ(error_of_call(SYS_clone3, nullptr, 0), ENOSYS);
  EXPECT_EQ(error_of_call(437 /* openat2 */, AT_FDCWD, "/dev/null", nullptr, 0), ENOSYS);
  EXPECT_EQ(error_of_call(kNewestKnownCall + 1), ENOSYS);
  EXPECT_EQ(error_of_call(9999), ENOSYS);
}

TEST(Filter, OpensNoSocketsOrOnlyThoseOfTheInternet) {
  const auto error_of_socket = [](int family, int protocol, bool sockets) {
    return error_of(
        [=]() -> long {
          const long result = ::syscall(SYS_socket, family, SOCK_DGRAM, protocol);
          return result < 0 ? -errno : 0;
        },
        {.sockets = sockets});
  };
  for (const int family : {AF_UNIX, AF_INET, AF_INET6, AF_NETLINK, AF_PACKET, AF_VSOCK, AF_ALG})
    EXPECT_EQ(error_of_socket(family, 0, false), EPERM) << family;
  EXPECT_EQ(error_of_socket(AF_INET, 0, true), 0);
  EXPECT_NE(error_of_socket(AF_INET6, 0, true), EPERM);  // the machine may not have it
  EXPECT_EQ(error_of_socket(AF_NETLINK, 0, true), 0);
  EXPECT_EQ(error_of_socket(AF_NETLINK, 9 /* NETLINK_AUDIT */, true), EPERM);
  for (const int family : {AF_UNIX, AF_PACKET, AF_VSOCK, AF_ALG})
    EXPECT_EQ(error_of_socket(family, 0, true), EPERM) << family;
}

TEST(Filter, InNamespacesOfItsOwnFilesMayBeChangedButNothingWiderIsOpen) {
  const auto error_isolated = [](long call) {
    return error_of(
        [=]() -> long {
          const long result = ::syscall(call, 0, 0, 0, 0, 0, 0);
          return result < 0 ? -errno : 0;
        },
        {.isolated = true, .sockets = true, .truncation = true});
  };
  for (const unsigned call : kDenied) EXPECT_EQ(error_isolated(call), EPERM) << call;
  EXPECT_NE(error_isolated(SYS_fchmodat), EPERM);  // with a mode of 0
  EXPECT_NE(error_isolated(SYS_truncate), EPERM);
}

TEST(Filter, MakesNoNamespaces) {
  for (const unsigned long flag : {CLONE_NEWNS, CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET, CLONE_NEWIPC,
                                   CLONE_NEWUTS, CLONE_NEWCGROUP}) {
    EXPECT_EQ(error_of_call(SYS_clone, flag | SIGCHLD, nullptr, nullptr, nullptr, nullptr), EPERM) << flag;
    EXPECT_EQ(error_of_call(SYS_unshare, flag), EPERM) << flag;
  }
}

TEST(Filter, ProtectsTheSupervisor) {
  const pid_t init = ::getpid();
  for (const long call :
       {SYS_kill, SYS_tkill, SYS_tgkill, SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo, SYS_pidfd_open}) {
    EXPECT_EQ(error_of_call(call, init, 0, 0, 0), EPERM) << call;
  }
  EXPECT_EQ(error_of_call(SYS_kill, -init, 0), EPERM);
  EXPECT_EQ(error_of_call(SYS_kill, -1, 0), EPERM);
  EXPECT_EQ(error_of_call(SYS_prlimit64, init, 0, nullptr, nullptr), EPERM);
}

// Each would pass without the filter: the supervisor leads a group of their session, the pipe is theirs.
TEST(Filter, LetsNobodySignalTheSupervisorByItsGroupOrByADescriptor) {
  const pid_t leader = ::fork();
  if (leader == 0) {
    ::setpgid(0, 0);
    _exit(error_of_call(SYS_setpgid, 0, ::getpid()));
  }
  int status = 0;
  ASSERT_EQ(::waitpid(leader, &status, 0), leader);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), EPERM);
  EXPECT_EQ(error_of_call(SYS_setpgid, 0, 0), 0) << "a group of its own";
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  EXPECT_EQ(error_of_call(SYS_fcntl, ends[0], F_SETSIG, SIGKILL), EPERM);
  EXPECT_EQ(error_of_call(SYS_fcntl, ends[0], F_SETFL, O_ASYNC), 0);
  ::close(ends[0]);
  ::close(ends[1]);
}

// Without the filter an open folder of /proc stands for the process that it is about.
TEST(Filter, SignalsNobodyByAFolderOfProc) {
  const std::string folder = "/proc/" + std::to_string(::getpid());
  const int supervisor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  ASSERT_GE(supervisor, 0);
  EXPECT_EQ(::syscall(SYS_pidfd_send_signal, supervisor, 0, nullptr, 0), 0) << "the control does not fire";
  EXPECT_EQ(error_of_call(SYS_pidfd_send_signal, supervisor, 0, nullptr, 0), ENOSYS);
  ::close(supervisor);
}

TEST(Filter, RefusesTheRequestsThatChangeAFileOrATerminal) {
  for (const unsigned request : kDeniedIoctls)
    EXPECT_EQ(error_of_call(SYS_ioctl, 0, request, nullptr), EPERM) << request;
  EXPECT_NE(error_of_call(SYS_ioctl, 0, 0x5401 /* TCGETS */, nullptr), EPERM);
}

}  // namespace
}  // namespace deputy::init
