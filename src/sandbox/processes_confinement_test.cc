// What a confined program cannot do, tried by a program. Each attempt has a twin that must succeed, or it
// would prove nothing.
#include <fmt/format.h>
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

// What is only searched, where there are mount namespaces.
class Enclosed : public Confinement {
 protected:
  void SetUp() override {
    if (const auto can = run(loop_, processes_.capability({})); !can || !can->user_namespaces)
      GTEST_SKIP() << "no user namespaces here";
  }
  ProcessSpec enclosed(ProcessSpec wanted) {
    wanted.enclosed = true;
    return wanted;
  }
  std::string attempt(const std::string& expression) {
    return run_it(enclosed(perl("$! = 0; my $done = (" + expression + "); print $done ? 'allowed' : \"$!\"")))
        .output;
  }
};

constexpr char kNotThere[] = "No such file or directory";

TEST_F(Enclosed, SeesItsFolderAndTheSystemsProgramsOnly) {
  std::filesystem::create_symlink(root_ + "/outside", root_ + "/inside/link");
  EXPECT_EQ(attempt("open(my $f, '<', 'file')"), "allowed");
  EXPECT_EQ(attempt("open(my $f, '<', '/usr/bin/env')"), "allowed");
  const std::vector<std::string> beyond{"../outside",   root_ + "/outside",   root_ + "/inside/file",
                                        "link",         "/etc/passwd",        "/etc/hosts",
                                        "/proc/1/stat", "/proc/self/environ", "/dev/zero"};
  for (const std::string& path : beyond)
    EXPECT_EQ(attempt("open(my $f, '<', '" + path + "')"), kNotThere) << path;
  const auto listed = run_it(enclosed(shell("cd / && echo *; echo etc/* dev/*"))).output;
  for (const std::string& name : {"home", "root", "proc", "sys", "tmp", "var", "run"})
    EXPECT_THAT(listed, testing::Not(testing::ContainsRegex("(^| )" + name + "( |$)")));
  EXPECT_THAT(listed, testing::HasSubstr(" usr\netc/ld.so.cache dev/null\n"));
}

TEST_F(Enclosed, StartsInTheVeryFolder) {
  const auto result = run_it(enclosed(shell("cat file && exec stat -c %d:%i .")));
  struct stat status{};
  ASSERT_EQ(::stat((root_ + "/inside").c_str(), &status), 0);
  EXPECT_EQ(result.output,
            "what is inside\n" + std::to_string(status.st_dev) + ":" + std::to_string(status.st_ino) + "\n");
}

TEST_F(Enclosed, ChangesNothing) {
  EXPECT_EQ(attempt("open(my $f, '>', 'new')"), kByLandlock);
  EXPECT_EQ(attempt("open(my $f, '>>', 'file')"), kByLandlock);
  EXPECT_EQ(attempt("open(my $f, '>', '/new')"), kByLandlock);
  EXPECT_EQ(attempt("open(my $f, '>', '/etc/new')"), kByLandlock);
  EXPECT_EQ(attempt("mkdir('folder')"), kByLandlock);
  EXPECT_EQ(attempt("unlink('file')"), kByLandlock);
  EXPECT_EQ(attempt("rename('file', 'other')"), kByLandlock);
  EXPECT_EQ(attempt("sysopen(my $f, 'file', O_RDONLY | O_TRUNC)"), kByFilter);
  EXPECT_EQ(attempt("truncate('file', 0)"), kByFilter);
  EXPECT_EQ(attempt("chmod(0777, 'file')"), kByFilter);
  EXPECT_EQ(read_file("inside/file"), "what is inside\n");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(root_ + "/inside"), {}), 1);
}

TEST_F(Enclosed, ExecutesNothingOfItsFolder) {
  write_file("inside/script", "#!/bin/sh\necho ran\n");
  std::filesystem::permissions(root_ + "/inside/script", std::filesystem::perms::owner_all);
  const auto result = run_it(enclosed(shell("./script")));
  EXPECT_EQ(result.exit_status, 126);
  EXPECT_EQ(result.output, "");
}

TEST_F(Enclosed, HasNoCapabilitiesAndEndsWithItsSupervisor) {
  const auto result = run_it(enclosed(
      perl("my ($capget, $prctl) = @ARGV; my $header = pack('Ll', 0x20080522, 0); my $sets = 'x' x 24;"
           "syscall($capget + 0, $header, $sets); my $number = pack('l', 0); syscall($prctl + 0, 2, $number, "
           "0, 0, 0);"
           "print unpack('H*', $sets), ' ', unpack('l', $number);"
           "print syscall($prctl + 0, 23, $_, 0, 0, 0) for 0 .. 40",
           {std::to_string(SYS_capget), std::to_string(SYS_prctl)})));
  EXPECT_EQ(result.output, std::string(48, '0') + " 9" + std::string(41, '0'));
}

TEST_F(Enclosed, FindsAProgramThatALinkLeadsTo) {
  std::filesystem::create_symlink("/usr/bin/env", root_ + "/env");
  EXPECT_EQ(run_it(enclosed(spec({root_ + "/env", "echo", "found"}))).output, "found\n");
  std::filesystem::copy_file("/usr/bin/env", root_ + "/own");
  EXPECT_EQ(try_run(enclosed(spec({root_ + "/own", "echo", "found"}))).error().code, ErrorCode::denied);
}

// Whoever cannot be enclosed is kept from the same by Landlock, and finds its folder where it is.
class NotEnclosed : public Enclosed {
 protected:
  // deputy-init, behind what a script does first.
  SystemProcesses behind(const std::string& script) {
    write_file("init", script);
    std::filesystem::permissions(root_ + "/init", std::filesystem::perms::owner_all);
    return {loop_, root_ + "/init"};
  }
  std::string output(SystemProcesses& processes, ProcessSpec wanted) {
    const auto result = run(loop_, processes.run(enclosed(std::move(wanted)), {}));
    return result ? result->output + result->errors : to_text(result.error());
  }
  ProcessSpec reader() {
    return perl("print open(my $f, '<', $_) ? 'allowed' : $!, ' ' for ('file', '../outside', '/etc/shadow')");
  }
  void expect_not_enclosed(SystemProcesses& processes) {
    EXPECT_EQ(output(processes, reader()), "allowed Permission denied Permission denied ");
    EXPECT_EQ(output(processes, spec({"pwd"})), root_ + "/inside\n");
    std::filesystem::create_directories(root_ + "/inside/sub");
    write_file("inside/sub/ignored", "what is inside\n");
    write_file("inside/.gitignore", "ignored\n");
    EXPECT_EQ(output(processes, spec({"rg", "--no-config", "--no-require-git", "--hidden", "--glob", "!.git",
                                      "-c", "inside", "./"})),
              "./file:1\n");
    EXPECT_EQ(output(processes, spec({"rg", "--no-config", "--no-require-git", "--files", "./sub"})), "");
  }
};

TEST_F(NotEnclosed, WhereThereAreNoUserNamespaces) {
  auto processes = behind(
      "#!/bin/sh\nexec /usr/bin/unshare -Ur /bin/sh -c 'echo 0 > /proc/sys/user/max_user_namespaces && "
      "exec \"$0\" \"$@\"' '" +
      bin_dir() + "/deputy-init' \"$@\"\n");
  const auto can = run(loop_, processes.capability({}));
  ASSERT_TRUE(can) << to_text(can.error());
  EXPECT_FALSE(can->user_namespaces);
  expect_not_enclosed(processes);
}

TEST_F(NotEnclosed, WhichOfItsStepsFails) {
  for (const long call : {SYS_unshare, SYS_open_tree, SYS_mount, SYS_move_mount, SYS_pivot_root}) {
    SCOPED_TRACE(call);
    auto processes = behind(fmt::format(R"(#!/usr/bin/perl
my $filter = join '', map {{ pack 'SCCL', @$_ }} [0x20, 0, 0, 0], [0x15, 0, 1, {}], [0x06, 0, 0, 0x50001], [0x06, 0, 0, 0x7fff0000];
my $program = pack 'Sx6P', 4, $filter;
syscall({}, 38, 1, 0, 0, 0) == 0 && syscall({}, 22, 2, $program) == 0 or die;
exec '{}/deputy-init', @ARGV;
)",
                                        call, SYS_prctl, SYS_prctl, bin_dir()));
    expect_not_enclosed(processes);
  }
}

TEST_F(NotEnclosed, WhoIsGivenMoreThanItsFolder) {
  std::filesystem::create_directory(root_ + "/other");
  auto wanted = reader();
  wanted.roots = {{root_ + "/other", Access::read}};
  EXPECT_EQ(output(processes_, std::move(wanted)), "allowed Permission denied Permission denied ");
}

TEST_F(NotEnclosed, WhoMayWrite) {
  auto wanted = reader();
  wanted.folder_access = Access::write;
  EXPECT_EQ(output(processes_, std::move(wanted)), "allowed Permission denied Permission denied ");
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
