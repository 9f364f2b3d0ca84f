// What a confined program cannot do, tried by a program. Each attempt has a twin that must succeed, or it
// would prove nothing.
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "gmock/gmock.h"
#include "sandbox/init/filter.h"
#include "sandbox/processes_fixture.h"

namespace deputy {
namespace {

class Confinement : public ProcessesFixture {
 protected:
  // What `expression` fails with, or "allowed".
  std::string attempt(const std::string& expression) {
    return run_it(perl("$! = 0; my $done = (" + expression + "); print $done ? 'allowed' : \"$!\"")).output;
  }
};

constexpr char kByLandlock[] = "Permission denied";
constexpr char kByFilter[] = "Operation not permitted";

TEST_F(Confinement, ReadsBeneathTheFolderOnly) {
  EXPECT_EQ(attempt("open(my $f, '<', 'file')"), "allowed");
  EXPECT_EQ(attempt("opendir(my $d, '.')"), "allowed");
  EXPECT_EQ(attempt("open(my $f, '<', '../outside')"), kByLandlock);
  EXPECT_EQ(attempt("open(my $f, '<', '" + root_ + "/outside')"), kByLandlock);
  EXPECT_EQ(attempt("opendir(my $d, '..')"), kByLandlock);
  EXPECT_EQ(attempt("opendir(my $d, '/')"), kByLandlock);
}

TEST_F(Confinement, ALinkDoesNotLeadOut) {
  std::filesystem::create_symlink(root_ + "/outside", root_ + "/inside/link");
  EXPECT_EQ(attempt("open(my $f, '<', 'link')"), kByLandlock);
}

TEST_F(Confinement, ReadsTheSystemsProgramsButNotItsSecrets) {
  EXPECT_EQ(attempt("open(my $f, '<', '/usr/bin/env')"), "allowed");
  EXPECT_EQ(attempt("open(my $f, '<', '/etc/ld.so.cache')"), "allowed");
  for (const std::string path :
       {"/etc/shadow", "/etc/hosts", "/proc/self/environ", "/proc/1/stat", "/dev/kmsg"}) {
    if (!std::filesystem::exists(path)) continue;  // not every system has all of them
    EXPECT_EQ(attempt("open(my $f, '<', '" + path + "')"), kByLandlock) << path;
  }
}

TEST_F(Confinement, WritesNothing) {
  EXPECT_EQ(attempt("open(my $f, '>', '/dev/null')"), "allowed");
  EXPECT_EQ(attempt("open(my $f, '>', 'new')"), kByLandlock);
  EXPECT_EQ(attempt("open(my $f, '>>', 'file')"), kByLandlock);
  EXPECT_EQ(attempt("open(my $f, '>', '/tmp/deputy-new')"), kByLandlock);
  EXPECT_EQ(attempt("mkdir('folder')"), kByLandlock);
  EXPECT_EQ(attempt("unlink('file')"), kByLandlock);
  EXPECT_EQ(attempt("rename('file', 'other')"), kByLandlock);
  EXPECT_EQ(attempt("symlink('file', 'other')"), kByLandlock);
  EXPECT_EQ(attempt("link('file', 'other')"), kByLandlock);
  EXPECT_EQ(attempt("sysopen(my $f, 'file', O_RDONLY | O_TRUNC)"), kByFilter);
  EXPECT_EQ(attempt("truncate('file', 0)"), kByFilter);
  EXPECT_EQ(read_file("inside/file"), "what is inside\n");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(root_ + "/inside"), {}), 1);
}

TEST_F(Confinement, WritesWhereItWasGranted) {
  std::filesystem::create_directory(root_ + "/other");
  auto wanted =
      shell("echo x > new && mkdir d && mv new d/x && rm file && echo y > ../other/y; echo z > ../z");
  wanted.folder_access = Access::write;
  wanted.roots = {{root_ + "/other", Access::write}};
  const auto result = run_it(std::move(wanted));
  EXPECT_THAT(result.errors, testing::HasSubstr(kByLandlock));
  EXPECT_EQ(read_file("inside/d/x"), "x\n");
  EXPECT_EQ(read_file("other/y"), "y\n");
  EXPECT_FALSE(std::filesystem::exists(root_ + "/inside/file"));
  EXPECT_FALSE(std::filesystem::exists(root_ + "/z"));
}

TEST_F(Confinement, TruncatesOnlyWhereItMayWrite) {
  std::filesystem::create_directory(root_ + "/other");
  write_file("other/a", "readable\n");
  const std::string other = root_ + "/other/a";
  const auto attempt_to_truncate = [&](const std::string& path) {
    auto wanted = perl("print truncate($ARGV[0], 0) ? 'allowed' : $!", {path});
    wanted.folder_access = Access::write;
    wanted.roots = {{root_ + "/other", Access::read}};
    return run_it(std::move(wanted)).output;
  };
  const auto can = run(loop_, processes_.capability({}));
  ASSERT_TRUE(can);
  const bool is_guarded = can->landlock_abi >= 3;  // before that the filter refuses it to everybody
  EXPECT_EQ(attempt_to_truncate(other), is_guarded ? kByLandlock : kByFilter);
  EXPECT_EQ(attempt_to_truncate("file"), is_guarded ? "allowed" : kByFilter);
  EXPECT_EQ(read_file("other/a"), "readable\n");
  EXPECT_EQ(read_file("inside/file"), is_guarded ? "" : "what is inside\n");
}

TEST_F(Confinement, ReadsWhatItWasGrantedAndWidensNothing) {
  std::filesystem::create_directory(root_ + "/other");
  write_file("other/a", "readable\n");
  auto wanted = shell("cat ../other/a; echo x > ../other/b; echo x > new");
  wanted.roots = {{root_ + "/other", Access::read}, {root_, Access::write}};
  const auto result = run_it(std::move(wanted));
  EXPECT_EQ(result.output, "readable\n");
  EXPECT_FALSE(std::filesystem::exists(root_ + "/other/b"));
  EXPECT_FALSE(std::filesystem::exists(root_ + "/inside/new"));
}

TEST_F(Confinement, ChangesNothingAboutAFile) {
  const auto before = std::filesystem::last_write_time(root_ + "/inside/file");
  EXPECT_EQ(attempt("chmod(0777, 'file')"), kByFilter);
  EXPECT_EQ(attempt("chown($<, -1, 'file')"), kByFilter);
  EXPECT_EQ(attempt("utime(1, 1, 'file')"), kByFilter);
  EXPECT_EQ(attempt("open(my $f, '<', 'file') && chmod(0777, $f)"), kByFilter);
  EXPECT_EQ(std::filesystem::last_write_time(root_ + "/inside/file"), before);
}

TEST_F(Confinement, ExecutesOnlyTheSystemsPrograms) {
  write_file("inside/script", "#!/bin/sh\necho ran\n");
  std::filesystem::permissions(root_ + "/inside/script", std::filesystem::perms::owner_all);
  EXPECT_EQ(run_it(shell("echo fine | cat")).output, "fine\n");
  const auto result = run_it(shell("./script"));
  EXPECT_EQ(result.exit_status, 126);
  EXPECT_EQ(result.output, "");
  EXPECT_EQ(try_run(spec({root_ + "/inside/script"})).error().code, ErrorCode::denied);
}

TEST_F(Confinement, HasNoNetworkAndNoSockets) {
  EXPECT_EQ(attempt("pipe(my $r, my $w)"), "allowed");
  for (const std::string family : {"1", "2", "10", "16"}) {  // unix, IPv4, IPv6, netlink
    for (const std::string kind : {"1", "2", "3"}) {
      EXPECT_EQ(attempt("socket(my $s, " + family + ", " + kind + ", 0)"), kByFilter)
          << family << " " << kind;
    }
  }
}

TEST_F(Confinement, NoneOfTheForbiddenCallsPasses) {
  std::vector<std::string> numbers;
  for (const unsigned call : init::kDenied) numbers.push_back(std::to_string(call));
  const auto result =
      run_it(perl("for my $n (@ARGV) { $! = 0; syscall($n + 0, 0, 0, 0, 0, 0, 0); print \"$n: $!\\n\" if $! "
                  "!= POSIX::EPERM } print 'end'",
                  numbers));
  EXPECT_EQ(result.output, "end");
}

TEST_F(Confinement, GainsNoPrivilegesAndHasNoCapabilities) {
  const auto result = run_it(perl(
      "print syscall(shift() + 0, 39, 0, 0, 0, 0);"  // PR_GET_NO_NEW_PRIVS
      "my $header = pack('Ll', 0x20080522, 0); my $sets = 'x' x 24; syscall(shift() + 0, $header, $sets);"
      "print unpack('H*', $sets)",
      {std::to_string(SYS_prctl), std::to_string(SYS_capget)}));
  EXPECT_EQ(result.output, "1" + std::string(48, '0'));
  if (::getuid() == 0) {  // root would get them back from the bounding set
    const auto bounding = run_it(perl("my $n = shift() + 0; print syscall($n, 23, $_, 0, 0, 0) for 0 .. 30",
                                      {std::to_string(SYS_prctl)}));
    EXPECT_EQ(bounding.output, std::string(31, '0'));
  }
}

TEST_F(Confinement, CannotEndItsSupervisor) {
  const auto result = run_it(perl(R"(
      my ($prlimit) = @ARGV; my $init = getppid();
      for my $target ($init, -$init, -1) { $! = 0; print kill(9, $target), " $!\n" }
      $! = 0; my $limit = pack('QQ', 0, 0); print syscall($prlimit + 0, $init + 0, 0, $limit, 0), " $!\n";
      print kill(0, $$), "\n")",
                                  {std::to_string(SYS_prlimit64)}));
  const std::string denied = std::string("0 ") + kByFilter + "\n";
  EXPECT_EQ(result.output, denied + denied + denied + "-1 " + kByFilter + "\n1\n");
  EXPECT_EQ(result.exit_status, 0);
}

TEST_F(Confinement, ThreadsAndPipelinesStillWork) {
  EXPECT_EQ(run_it(shell("for i in 3 1 2; do echo $i; done | sort | tr '\\n' ' '")).output, "1 2 3 ");
}

TEST_F(Confinement, RipgrepFindsWhatItShould) {
  auto wanted = spec({"rg", "--no-config", "--no-ignore-parent", "--sort", "path", "-e", "inside", "."});
  for (const bool enclosed : {false, true}) {
    wanted.enclosed = enclosed;
    const auto result = try_run(wanted);
    if (!result && result.error().code == ErrorCode::not_found) GTEST_SKIP() << "no ripgrep here";
    ASSERT_TRUE(result.has_value()) << to_text(result.error());
    EXPECT_EQ(result->output, "./file:what is inside\n");
    EXPECT_EQ(result->errors, "");
    EXPECT_EQ(result->exit_status, 0);
  }
}

}  // namespace
}  // namespace deputy
