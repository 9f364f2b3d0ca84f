// What a program sees, and can do, that is only to search: with namespaces little else than its folder, and
// where they cannot be had or would change what it finds, what Landlock leaves it. Each attempt has a twin
// that must succeed, or it would prove nothing.
#include <fmt/format.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "gmock/gmock.h"
#include "sandbox/processes_fixture.h"
#include "support/another_process.h"

namespace deputy {
namespace {

using testing::HasSubstr;

constexpr char kByLandlock[] = "Permission denied";
constexpr char kByFilter[] = "Operation not permitted";
constexpr char kNotThere[] = "No such file or directory";
constexpr char kBothDenied[] = "allowed Permission denied Permission denied ";

class Enclosed : public ProcessesFixture {
 protected:
  void SetUp() override {
    if (!has_user_namespaces()) GTEST_SKIP() << "no user namespaces here";
  }
  ProcessSpec enclosed(ProcessSpec wanted) {
    wanted.enclosed = true;
    return wanted;
  }
  ProcessSpec attempt_of(const std::string& expression) {
    return enclosed(perl("$! = 0; my $done = (" + expression + "); print $done ? 'allowed' : \"$!\""));
  }
  std::string attempt(const std::string& expression) { return run_it(attempt_of(expression)).output; }
  ProcessResult run_unconfined(ProcessSpec wanted) {
    wanted.need = wanted.aim = SandboxLevel::none;
    return run_it(std::move(wanted));
  }
  // What Glob lists.
  ProcessSpec search() {
    return spec({"rg", "--no-config", "--no-ignore-messages", "--no-require-git", "--hidden", "--sort",
                 "path", "--files", "--", "./"});
  }
  bool has_ripgrep() { return try_run(spec({"rg", "--version"})).has_value(); }
  void empty_folder() {
    for (const auto& entry : std::filesystem::directory_iterator(root_ + "/inside"))
      std::filesystem::remove_all(entry.path());
    write_file("inside/file", "what is inside\n");
  }
};

TEST_F(Enclosed, SeesItsFolderAndTheSystemsProgramsOnly) {
  std::filesystem::create_symlink(root_ + "/outside", root_ + "/inside/link");
  EXPECT_EQ(attempt("open(my $f, '<', 'file')"), "allowed");
  EXPECT_EQ(attempt("open(my $f, '<', '" + root_ + "/inside/file')"), "allowed");
  EXPECT_EQ(attempt("open(my $f, '<', '/usr/bin/env')"), "allowed");
  const std::vector<std::string> beyond{"../outside", root_ + "/outside", "link",     "/etc/group",
                                        "/etc/hosts", "/proc/1/stat",     "/dev/zero"};
  for (const std::string& path : beyond)
    EXPECT_EQ(attempt("open(my $f, '<', '" + path + "')"), kNotThere) << path;
  const auto listed = run_it(enclosed(shell("cd / && echo */ && echo /dev/* && ls -A " + root_))).output;
  for (const std::string& name : {"root", "proc", "sys", "run", "var", "boot"})
    if (!root_.starts_with("/" + name + "/")) EXPECT_THAT(listed, testing::Not(HasSubstr(name + "/")));
  EXPECT_THAT(listed, HasSubstr("usr/"));
  EXPECT_THAT(listed, HasSubstr("\n/dev/null\ninside\n"));
}

TEST_F(Enclosed, StartsInTheVeryFolder) {
  const auto result = run_it(enclosed(shell("cat file && pwd && exec stat -c %d:%i .")));
  struct stat status{};
  ASSERT_EQ(::stat((root_ + "/inside").c_str(), &status), 0);
  EXPECT_EQ(result.output,
            fmt::format("what is inside\n{}/inside\n{}:{}\n", root_, status.st_dev, status.st_ino));
}

TEST_F(Enclosed, ChangesNothing) {
  struct Case {
    std::string expression;
    std::string refusal;
  };
  const Case cases[] = {
      {"open(my $f, '>', 'new')", kByLandlock}, {"open(my $f, '>>', 'file')", kByLandlock},
      {"mkdir('folder')", kByLandlock},         {"unlink('file')", kByLandlock},
      {"rename('file', 'other')", kByLandlock}, {"sysopen(my $f, 'file', O_RDONLY | O_TRUNC)", kByFilter},
      {"truncate('file', 0)", kByFilter},       {"chmod(0777, 'file')", kByFilter}};
  for (const auto& [expression, refusal] : cases) {
    SCOPED_TRACE(expression);
    EXPECT_EQ(attempt(expression), refusal);
    EXPECT_EQ(read_file("inside/file"), "what is inside\n");
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(root_ + "/inside"), {}), 1);
    EXPECT_EQ(run_unconfined(attempt_of(expression)).output, "allowed");
    empty_folder();
  }
  EXPECT_EQ(attempt("open(my $f, '>', '/dev/null')"), "allowed");
  EXPECT_EQ(attempt("open(my $f, '>', '/new')"), kByLandlock);
  EXPECT_EQ(attempt("open(my $f, '>', '/etc/new')"), kByLandlock);
}

TEST_F(Enclosed, ExecutesNothingOfItsFolder) {
  write_file("inside/script", "#!/bin/sh\necho ran\n");
  std::filesystem::permissions(root_ + "/inside/script", std::filesystem::perms::owner_all);
  const auto wanted = enclosed(shell("./script"));
  const auto result = run_it(wanted);
  EXPECT_EQ(result.exit_status, 126);
  EXPECT_EQ(result.output, "");
  EXPECT_EQ(run_unconfined(wanted).output, "ran\n");
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

// Landlock lets it run, and it sees its name.
TEST_F(Enclosed, FindsAProgramThatALinkLeadsTo) {
  std::filesystem::create_symlink("/usr/bin/sh", root_ + "/other");
  EXPECT_EQ(run_it(enclosed(spec({root_ + "/other", "-c", "echo $0"}))).output, root_ + "/other\n");
  std::filesystem::copy_file("/usr/bin/env", root_ + "/own");
  EXPECT_EQ(try_run(enclosed(spec({root_ + "/own", "echo", "found"}))).error().code, ErrorCode::denied);
}

TEST_F(Enclosed, OverlooksWhatAnIgnoreFileNamesThatIsALink) {
  if (!has_ripgrep()) GTEST_SKIP() << "no ripgrep here";
  ASSERT_TRUE(is_enclosed(enclosed(search())));
  std::filesystem::create_directory(root_ + "/inside/cfg");
  write_file("inside/cfg/gi", "ignored\n");
  write_file("inside/ignored", "");
  EXPECT_EQ(run_it(enclosed(search())).output, "./cfg/gi\n./file\n./ignored\n");
  for (const std::string& target : {root_ + "/inside/cfg/gi", std::string("../inside/cfg/gi")}) {
    std::filesystem::remove(root_ + "/inside/.gitignore");
    std::filesystem::create_symlink(target, root_ + "/inside/.gitignore");
    EXPECT_EQ(run_it(search()).output, "./cfg/gi\n./file\n") << target;
    EXPECT_EQ(run_it(enclosed(search())).output, "./cfg/gi\n./file\n") << target;
  }
}

// Whoever has made namespaces of his own, in which he is root, and may mount what he likes.
class EnclosedWhere : public Enclosed {
 protected:
  // The folder of the build need not be open to others.
  EnclosedWhere() { std::filesystem::copy_file(bin_dir() + "/deputy-init", init_); }
  static bool become_root() {
    const auto put = [](const char* path, const std::string& text) {
      std::ofstream file(path);
      file << text << std::flush;
      return file.good();
    };
    const std::string user = fmt::format("0 {} 1", ::getuid());
    const std::string group = fmt::format("0 {} 1", ::getgid());
    return ::unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 && put("/proc/self/setgroups", "deny") &&
           put("/proc/self/uid_map", user) && put("/proc/self/gid_map", group);
  }
  bool mount_at(const std::string& path, const std::string& what) {
    return ::mount(what.c_str(), (root_ + path).c_str(), nullptr, MS_BIND | MS_REC, nullptr) == 0;
  }
  // What a program says, run by whoever this process has become; `arrange` follows when the folder is open.
  std::string outcome(ProcessSpec wanted, const std::function<bool()>& arrange = [] { return true; }) {
    auto opened = SystemDisk().open(root_ + "/inside", IfAbsent::fail);
    if (!opened || !arrange()) return "cannot be arranged here";
    wanted.folder = opened->get();
    SystemLoop loop;
    SystemProcesses processes(loop, init_);
    const auto result = run(loop, processes.run(std::move(wanted), {}));
    return result ? result->output + result->errors : to_text(result.error());
  }
  // Begins with "enclosed" or "not enclosed".
  ProcessSpec look(const std::string& script) {
    return enclosed(shell("test -e /proc && echo not enclosed || echo enclosed; " + script));
  }
  const std::string init_ = root_ + "/deputy-init";
};

TEST_F(EnclosedWhere, SomethingIsMountedOverTheFolderItIsNot) {
  const auto wanted = look("cat file; cat " + root_ + "/inside/other");
  write_file("other", "what was never granted\n");
  const auto nothing = [] { return true; };
  const auto over = [&] { return mount_at("/inside", root_); };
  EXPECT_THAT(in_another_process(become_root, [&] { return outcome(wanted, nothing); }),
              testing::StartsWith("enclosed\nwhat is inside\n"));
  const auto said = in_another_process(become_root, [&] { return outcome(wanted, over); });
  EXPECT_THAT(said, testing::StartsWith("not enclosed\nwhat is inside\n"));
  EXPECT_THAT(said, HasSubstr(kByLandlock));
}

// The system's programs lie in /real, and /usr is a link to it.
TEST_F(EnclosedWhere, ProgramsLieElsewhereItIsNot) {
  std::filesystem::create_directory(root_ + "/new");
  const std::string top = root_ + "/new/";
  const auto arrange = [&] {
    if (::mount("tmpfs", top.c_str(), "tmpfs", 0, nullptr) != 0) return false;
    for (const auto& entry : std::filesystem::directory_iterator("/")) {
      const std::string name = entry.path().filename();
      const std::string given = name == "usr" ? "real" : name;
      if (entry.is_symlink()) {
        std::filesystem::copy_symlink(entry.path(), top + name);
      } else if (entry.is_directory()) {
        std::filesystem::create_directory(top + given);
        mount_at("/new/" + given, entry.path());
      }
    }
    std::filesystem::create_symlink("real", top + "usr");
    return ::chdir(top.c_str()) == 0 && ::syscall(SYS_pivot_root, ".", ".") == 0 &&
           ::umount2(".", MNT_DETACH) == 0 && std::filesystem::is_symlink("/usr");
  };
  const auto said = in_another_process([&] { return become_root() && arrange(); },
                                       [&] { return outcome(look("cat file")); });
  // Landlock goes by /real as well, which leads to the same.
  EXPECT_EQ(said, "not enclosed\nwhat is inside\n");
}

// As where the workspace is somebody's home.
TEST_F(EnclosedWhere, ItsPersonHasGitIgnoreSomethingItIsOverlooked) {
  if (!has_ripgrep()) GTEST_SKIP() << "no ripgrep here";
  write_file("passwd", "root:x:0:0::" + root_ + "/inside:/bin/sh\n");
  write_file("inside/ignored", "");
  std::filesystem::create_directories(root_ + "/inside/.config/git");
  write_file("inside/.config/git/ignore", "ignored\n");
  const auto is_home = [&] {
    return ::mount((root_ + "/passwd").c_str(), "/etc/passwd", nullptr, MS_BIND, nullptr) == 0;
  };
  const auto said = [&](const ProcessSpec& wanted, const std::function<bool()>& arrange) {
    return in_another_process(become_root, [&] { return outcome(wanted, arrange); });
  };
  const std::string found = "./.config/git/ignore\n./file\n";
  EXPECT_EQ(said(enclosed(search()), [] { return true; }), found + "./ignored\n");
  EXPECT_EQ(said(search(), is_home), found);
  EXPECT_EQ(said(enclosed(search()), is_home), found);
}

TEST_F(EnclosedWhere, NobodyCanSayWhoItIsItIsNot) {
  const auto keep = [] {
    return ::mount(nullptr, "/proc", nullptr, MS_REMOUNT | MS_BIND | MS_RDONLY, nullptr) == 0;
  };
  const auto said =
      in_another_process(become_root, [&] { return outcome(look("pwd; cat file ../outside"), keep); });
  EXPECT_THAT(said, testing::StartsWith("not enclosed\n" + root_ + "/inside\nwhat is inside\n"));
  EXPECT_THAT(said, HasSubstr(kByLandlock));
}

TEST_F(EnclosedWhere, AnOrdinaryUserSearches) {
  if (::getuid() != 0) GTEST_SKIP() << "only root can become somebody else; the other tests run as this user";
  for (const auto& path : {root_, root_ + "/inside", root_ + "/inside/file", root_ + "/outside"})
    ASSERT_EQ(::chown(path.c_str(), kNobody, kNobody), 0);
  const auto wanted = look("id -u; cat file; cat ../outside; echo x > new");
  const auto has_namespaces = [&] {
    SystemLoop loop;
    SystemProcesses processes(loop, init_);
    const auto can = run(loop, processes.capability({}));
    return std::string(can && can->user_namespaces ? "yes" : "no");
  };
  if (in_another_process(become_nobody, has_namespaces) != "yes")
    GTEST_SKIP() << "ordinary users have no user namespaces here";
  const auto said = in_another_process(become_nobody, [&] { return outcome(wanted); });
  EXPECT_THAT(said, testing::StartsWith("enclosed\n65534\nwhat is inside\n"));
  EXPECT_THAT(said, HasSubstr("../outside: No such file"));
  EXPECT_THAT(said, HasSubstr(kByLandlock));
}

// Without capabilities root may not look into it, and must not look at something else instead.
TEST_F(EnclosedWhere, TheFolderIsClosedToRootItSeesNothing) {
  if (::getuid() != 0) GTEST_SKIP() << "only root enters what is closed to it";
  const auto wanted = enclosed(spec({"ls", "."}));
  EXPECT_EQ(outcome(wanted), "file\n");
  ASSERT_EQ(::chown((root_ + "/inside").c_str(), kNobody, kNobody), 0);
  ASSERT_EQ(::chmod((root_ + "/inside").c_str(), 0700), 0);
  EXPECT_THAT(outcome(wanted), testing::MatchesRegex(".*ls: cannot [a-z ]+ '\\.': Permission denied\n"));
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
    EXPECT_EQ(output(processes, reader()), kBothDenied);
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
  for (const long call : {SYS_unshare, SYS_open_tree, SYS_mount, SYS_mount_setattr, SYS_move_mount,
                          SYS_openat2, SYS_pivot_root, SYS_umount2}) {
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

// It would have to be shown in, above or beneath what else is there.
TEST_F(NotEnclosed, WhoseFolderIsOneOfTheSystems) {
  EXPECT_TRUE(is_enclosed(enclosed(reader())));
  for (const std::string path : {"/", "/usr", "/usr/share", "/etc", "/dev/shm"}) {
    const auto opened = SystemDisk().open(path, IfAbsent::fail);
    if (!opened) continue;
    auto wanted = enclosed(reader());
    wanted.folder = opened->get();
    EXPECT_FALSE(is_enclosed(std::move(wanted))) << path;
  }
}

TEST_F(NotEnclosed, WhoIsGivenMoreThanItsFolder) {
  std::filesystem::create_directory(root_ + "/other");
  auto wanted = reader();
  wanted.roots = {{root_ + "/other", Access::read}};
  EXPECT_EQ(output(processes_, std::move(wanted)), kBothDenied);
}

TEST_F(NotEnclosed, WhoMayWrite) {
  auto wanted = reader();
  wanted.folder_access = Access::write;
  EXPECT_EQ(output(processes_, std::move(wanted)), kBothDenied);
}

}  // namespace
}  // namespace deputy
