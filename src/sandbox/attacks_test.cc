// Attacks that a command might make on the machine around it. Each is tried without confinement first and
// must succeed there, or its refusal would prove nothing; then at every level that promises to refuse it. The
// names in brackets are those of the collection that the cases come from.
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <cstdio>

#include "gmock/gmock.h"
#include "sandbox/processes_fixture.h"

namespace deputy {
namespace {

class Attacks : public ProcessesFixture {
 protected:
  using Succeeded = std::function<bool(const ProcessResult&)>;

  static void TearDownTestSuite() { std::printf("attacks: %d refused of %d tried\n", refused_, tried_); }

  // `prepare` puts the stage back to where it was.
  void expect_refused(
      const ProcessSpec& attack, const Succeeded& succeeded, SandboxLevel least = SandboxLevel::restricted,
      const std::function<void()>& prepare = [] {}) {
    prepare();
    ASSERT_TRUE(succeeded(run_at(attack, SandboxLevel::none))) << "the attack fails by itself";
    for (auto level = least; level <= SandboxLevel::metered;
         level = static_cast<SandboxLevel>(static_cast<int>(level) + 1)) {
      if (!has_level(level)) continue;
      expect_refused_at(level, attack, succeeded, prepare);
    }
    if (least > SandboxLevel::restricted || attack.folder_access == Access::write) return;
    ProcessSpec enclosed = attack;
    enclosed.enclosed = true;
    if (!has_user_namespaces()) return;
    ASSERT_TRUE(is_enclosed(at(enclosed, SandboxLevel::restricted)));
    expect_refused_at(SandboxLevel::restricted, enclosed, succeeded, prepare);
  }
  void expect_refused_at(SandboxLevel level, const ProcessSpec& attack, const Succeeded& succeeded,
                         const std::function<void()>& prepare) {
    prepare();
    ++tried_;
    const bool got_through = succeeded(run_at(attack, level));
    EXPECT_FALSE(got_through) << "at level " << static_cast<int>(level)
                              << (attack.enclosed ? ", enclosed" : "");
    if (!got_through) ++refused_;
  }
  void expect_refused_saying(const ProcessSpec& attack, const std::string& text,
                             SandboxLevel least = SandboxLevel::restricted) {
    expect_refused(attack, [&](const ProcessResult& result) { return result.output.contains(text); }, least);
  }
  ProcessSpec at(ProcessSpec attack, SandboxLevel level) {
    attack.aim = attack.need = level;
    return attack;
  }
  ProcessResult run_at(ProcessSpec attack, SandboxLevel level) {
    return run_it(at(std::move(attack), level));
  }
  ProcessSpec writing(ProcessSpec attack) {
    attack.folder_access = Access::write;
    return attack;
  }
  // A native program in the folder.
  void write_program(const std::string& name, const std::string& bytes) {
    write_file("inside/" + name, bytes);
    std::filesystem::permissions(root_ + "/inside/" + name, std::filesystem::perms::owner_all);
  }

  static inline int tried_ = 0;
  static inline int refused_ = 0;
};

// What the program started with: later changes do not show in /proc.
std::string own_environment() {
  std::ifstream file("/proc/self/environ");
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST_F(Attacks, ReadTheRuntimesEnvironment) {  // env-01
  const auto secret = own_environment().substr(0, 20);
  if (secret.empty()) GTEST_SKIP() << "started without an environment";
  expect_refused_saying(shell("cat /proc/" + std::to_string(::getpid()) + "/environ"), secret);
  expect_refused_saying(shell("cat /proc/[0-9]*/environ"), secret);
}

// The runtime's own variables are not handed down at any level; a plain child obeys them.
TEST_F(Attacks, ReachAProgramThroughTheRuntimesVariables) {  // env-02, env-03, env-04, env-05
  struct Case {
    std::string name;
    std::string value;
    std::vector<std::string> argv;
  };
  write_file("inside/x.sh", "echo pwned\n");
  std::filesystem::create_directory(root_ + "/inside/bin");
  write_program("bin/ls", "#!/bin/sh\necho pwned\n");
  write_program("pwn", "#!/bin/sh\necho pwned\n");
  const Case cases[] = {{"LD_DEBUG", "help", {"ls"}},
                        {"BASH_ENV", root_ + "/inside/x.sh", {"bash", "-c", "true"}},
                        {"PATH", root_ + "/inside/bin:/usr/bin:/bin", {"ls"}},
                        {"GIT_EXTERNAL_DIFF",
                         root_ + "/inside/pwn",
                         {"git", "diff", "--no-index", root_ + "/inside/file", root_ + "/inside/x.sh"}}};
  for (const auto& [name, value, argv] : cases) {
    std::string command;
    for (const auto& word : argv) command += "'" + word + "' ";
    const char* before = ::getenv(name.c_str());
    const std::string kept = before ? before : "";
    ::setenv(name.c_str(), value.c_str(), 1);
    FILE* plain = ::popen((command + "2>&1").c_str(), "r");
    std::string changed(4096, '\0');
    changed.resize(std::fread(changed.data(), 1, changed.size(), plain));
    ::pclose(plain);
    ++tried_;
    const auto confined = run_it(spec(argv));
    if (before) {
      ::setenv(name.c_str(), kept.c_str(), 1);
    } else {
      ::unsetenv(name.c_str());
    }
    const auto usual = run_it(spec(argv));
    EXPECT_NE(changed, usual.output + usual.errors) << name << " does nothing by itself";
    EXPECT_EQ(confined.output + confined.errors, usual.output + usual.errors) << name;
    if (confined.output == usual.output) ++refused_;
  }
}

TEST_F(Attacks, ReadAFileOutside) {
  expect_refused_saying(shell("cat " + root_ + "/outside"), "what is outside");
  expect_refused_saying(shell("cat ../outside"), "what is outside");
  expect_refused_saying(shell("cat /proc/self/root" + root_ + "/outside"), "what is outside");
  std::filesystem::create_symlink(root_ + "/outside", root_ + "/inside/link");
  expect_refused_saying(shell("cat link"), "what is outside");
  expect_refused_saying(writing(shell("ln -s ../outside l2; cat l2")), "what is outside");
}

TEST_F(Attacks, WriteAFileOutside) {
  const auto written = [&](const ProcessResult&) { return std::filesystem::exists(root_ + "/pwn"); };
  const auto clean = [&] { std::filesystem::remove(root_ + "/pwn"); };
  expect_refused(writing(shell("touch ../pwn")), written, SandboxLevel::restricted, clean);
  expect_refused(writing(shell("mv file ../pwn; cp ../pwn file")), written, SandboxLevel::restricted, [&] {
    clean();
    write_file("inside/file", "what is inside\n");
  });
  expect_refused(writing(shell("ln -f file ../pwn")), written, SandboxLevel::restricted, clean);
  expect_refused(writing(shell("mkdir ../pwn")), written, SandboxLevel::restricted, clean);
  expect_refused(writing(shell("awk 'BEGIN{system(\"touch ../pwn\")}'")), written, SandboxLevel::restricted,
                 clean);
  expect_refused(writing(shell("sed -n 'w ../pwn' file")), written, SandboxLevel::restricted, clean);
  expect_refused(
      writing(shell("tar cf /dev/null --checkpoint=1 --checkpoint-action=exec='touch ../pwn' file")), written,
      SandboxLevel::restricted, clean);
}

TEST_F(Attacks, ChangeAFilesModeOutside) {  // sandbox-09
  const auto mode = [&] {
    struct stat found{};
    return ::stat((root_ + "/outside").c_str(), &found) == 0 ? found.st_mode & 0777 : 0;
  };
  expect_refused(
      writing(shell("chmod 777 " + root_ + "/outside")), [&](const ProcessResult&) { return mode() == 0777; },
      SandboxLevel::restricted, [&] { ::chmod((root_ + "/outside").c_str(), 0600); });
}

// Inside of the sandbox such a program gains nothing; whoever starts it outside becomes its owner.
TEST_F(Attacks, LeaveAProgramThatRunsAsItsOwner) {
  const auto left = [&](const ProcessResult&) {
    struct stat found{};
    return ::stat((root_ + "/inside/x").c_str(), &found) == 0 && (found.st_mode & (S_ISUID | S_ISGID)) != 0;
  };
  const auto clean = [&] { std::filesystem::remove(root_ + "/inside/x"); };
  for (const auto& attack :
       {shell("cp /usr/bin/id x && chmod 4755 x"), shell("cp /usr/bin/id x; chmod u+s x"),
        shell("cp /usr/bin/id x; chmod g+s x"), shell("install -m 4755 /usr/bin/id x"),
        perl("umask 0; sysopen(my $f, 'x', O_CREAT | O_WRONLY, 04755)"),
        perl("open(my $f, '>', 'x'); chmod 04755, $f"),
        perl("umask 0; my $x = 'x'; syscall(shift() + 0, -100, $x, 0104755, 0)",
             {std::to_string(SYS_mknodat)})}) {
    expect_refused(writing(attack), left, SandboxLevel::restricted, clean);
  }
}

TEST_F(Attacks, LeaveAFileInTheSharedTmp) {  // toctou-05
  const auto path = "/tmp/" + new_mark();
  expect_refused(
      shell("touch " + path), [&](const ProcessResult&) { return std::filesystem::exists(path); },
      SandboxLevel::restricted, [&] { std::filesystem::remove(path); });
  std::filesystem::remove(path);
}

TEST_F(Attacks, SendADatagram) {  // sandbox-03: a question to a name server is one
  const int receiver = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  sockaddr_in address{.sin_family = AF_INET, .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
  socklen_t size = sizeof address;
  ASSERT_EQ(::bind(receiver, reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(::getsockname(receiver, reinterpret_cast<sockaddr*>(&address), &size), 0);
  expect_refused(perl("use Socket; my $s; socket($s, PF_INET, SOCK_DGRAM, 0) and send($s, 'canary', 0, "
                      "sockaddr_in(shift, INADDR_LOOPBACK))",
                      {std::to_string(ntohs(address.sin_port))}),
                 [&](const ProcessResult&) {
                   char byte = 0;
                   return ::recv(receiver, &byte, 1, 0) == 1;
                 });
  ::close(receiver);
}

TEST_F(Attacks, AskTheKernelForAnIoUring) {  // sandbox-05
  expect_refused_saying(
      perl("my $p = \"\\0\" x 120; print syscall(shift() + 0, 4, $p) >= 0 ? 'ring' : \"no $!\"",
           {std::to_string(SYS_io_uring_setup)}),
      "ring");
}

#if defined(__x86_64__)
// mov eax, 359 (socket); mov ebx, AF_UNIX; mov ecx, SOCK_STREAM; xor edx, edx; int 0x80; its result, shifted
// down, tells by the sign; exit_group.
std::string program_with_32_bit_socket() {
  const std::string code(
      "\xb8\x67\x01\x00\x00\xbb\x01\x00\x00\x00\xb9\x01\x00\x00\x00\x31\xd2\xcd\x80\xc1\xe8\x1f\x89\xc7\xb8"
      "\xe7\x00"
      "\x00\x00\x0f\x05",
      31);
  std::string elf(
      "\x7f"
      "ELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x02\0\x3e\0\x01\0\0\0\x78\0\x40\0\0\0\0\0",
      32);
  elf += std::string("\x40\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x40\0\x38\0\x01\0\0\0\0\0\0\0", 32);
  elf += std::string("\x01\0\0\0\x05\0\0\0\0\0\0\0\0\0\0\0\0\0\x40\0\0\0\0\0\0\0\x40\0\0\0\0\0", 32);
  elf += std::string("\0\x01\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0\x10\0\0\0\0\0\0", 24);
  elf += code;
  elf.resize(256, '\0');
  return elf;
}

TEST_F(Attacks, ComeThroughThe32BitDoor) {  // sandbox-06
  write_program("int80", program_with_32_bit_socket());
  const auto opened = [](const ProcessResult& result) { return result.exit_status == 0; };
  auto attack = writing(shell("./int80"));
  if (!opened(run_at(attack, SandboxLevel::none))) GTEST_SKIP() << "this kernel has no 32-bit system calls";
  expect_refused(attack, opened);
}
#endif

// A process that is not confined, and does nothing.
class Victim {
 public:
  Victim() : pid_(::fork()) {
    if (pid_ == 0) {
      for (;;) ::pause();
    }
  }
  ~Victim() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Victim(const Victim&) = delete;
  std::string pid() const { return std::to_string(pid_); }
  bool is_alive() const {
    siginfo_t info{};
    return ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid == 0;
  }

 private:
  pid_t pid_;
};

TEST_F(Attacks, KillAProcessOutside) {  // sandbox-07
  const Victim victim;
  expect_refused(shell("kill -9 " + victim.pid()),
                 [](const ProcessResult& result) { return result.exit_status == 0; });
  const Victim survivor;
  for (const auto level : {SandboxLevel::restricted, SandboxLevel::isolated}) {
    if (has_level(level)) run_at(shell("kill -9 " + survivor.pid()), level);
  }
  EXPECT_TRUE(survivor.is_alive());
}

TEST_F(Attacks, TraceAProcessOutside) {  // sandbox-08
  const Victim victim;
  const std::string seize = "0x4206";
  expect_refused_saying(
      perl("print syscall(shift() + 0, " + seize + ", shift() + 0, 0, 0) == 0 ? 'seized' : \"no $!\"",
           {std::to_string(SYS_ptrace), victim.pid()}),
      "seized");
  expect_refused_saying(shell("head -c 1 /proc/" + victim.pid() + "/maps && echo read"), "read");
  expect_refused_saying(shell("ls /proc/" + victim.pid() + "/root/ && echo through"), "through");
}

TEST_F(Attacks, MakeANamespaceAndMountInIt) {  // sandbox-10
  expect_refused_saying(writing(shell("mkdir -p m; unshare -Urm sh -c 'mount -t tmpfs x m && echo mounted'")),
                        "mounted");
}

TEST_F(Attacks, PutAHookWhereGitWillRunIt) {  // sandbox-11; not at L1, see SandboxLevel
  const auto hook = root_ + "/inside/.git/hooks/pre-commit";
  const auto prepare = [&] {
    for (const auto* name : {"/inside/.git", "/inside/.git2"}) std::filesystem::remove_all(root_ + name);
    std::filesystem::create_directories(root_ + "/inside/.git/hooks");
    write_file("inside/.git/config", "[core]\n");
  };
  const auto placed = [&](const ProcessResult&) {
    return std::filesystem::exists(hook) || read_file("inside/.git/config") != "[core]\n" ||
           std::filesystem::exists(root_ + "/inside/.git/commondir");
  };
  for (const std::string script :
       {"mv .git .git2; mkdir -p .git/hooks; cp file .git/hooks/pre-commit", "cp file .git/hooks/pre-commit",
        "rm -rf .git/hooks; mkdir -p .git/hooks; cp file .git/hooks/pre-commit",
        "echo fsmonitor > .git/config", "echo ../evil > .git/commondir",
        "echo x > .git/c; mv -f .git/c .git/config"}) {
    expect_refused(writing(shell(script)), placed, SandboxLevel::isolated, prepare);
  }
}

TEST_F(Attacks, MakeAProtectedFolderThatIsNotThereYet) {  // sandbox-12; not at L1
  const auto prepare = [&] {
    for (const auto* name : {"/inside/.deputy", "/inside/.deputy2"})
      std::filesystem::remove_all(root_ + name);
  };
  const auto placed = [&](const ProcessResult&) {
    return std::filesystem::exists(root_ + "/inside/.deputy/config.toml");
  };
  for (const std::string script :
       {"mkdir .deputy2; ln -s .deputy2 .deputy; echo x > .deputy/config.toml",
        "mkdir -p .deputy; echo x > .deputy/config.toml",
        "mkdir -p .deputy2; echo x > .deputy2/config.toml; rmdir .deputy; mv -T .deputy2 .deputy"}) {
    expect_refused(writing(shell(script)), placed, SandboxLevel::isolated, prepare);
  }
}

TEST_F(Attacks, LeaveAProcessBehindWithoutATrace) {  // sandbox-14
  const auto start = [](const std::string& mark) {
    return "env -i setsid /usr/bin/perl -e 'exit if fork; sleep 1000 while 1' " + mark;
  };
  const auto control = new_mark();
  ASSERT_EQ(std::system((start(control) + " >/dev/null 2>&1 </dev/null").c_str()), 0);
  const auto left = find_processes({control});
  EXPECT_GT(left.size(), 0u) << "the attack fails by itself";
  for (const pid_t pid : left) ::kill(pid, SIGKILL);
  for (const auto level :
       {SandboxLevel::none, SandboxLevel::restricted, SandboxLevel::isolated, SandboxLevel::metered}) {
    if (!has_level(level)) continue;
    const auto mark = new_mark();
    ++tried_;
    run_at(shell(start(mark)), level);
    const int survivors = count_marked(mark);
    EXPECT_EQ(survivors, 0) << "at level " << static_cast<int>(level);
    if (survivors == 0) ++refused_;
  }
}

// The number is bounded by the attack itself, so that a missing limit does no harm.
TEST_F(Attacks, StartTooManyProcesses) {  // sandbox-15
  auto attack = perl(
      "my $n = 0; for (1 .. 100) { my $p = fork; last unless defined $p; if (!$p) { sleep 9; exit } ++$n } "
      "print $n");
  const auto many = [](const ProcessResult& result) { return result.output == "100"; };
  attack.limits.processes = 30;
  expect_refused(attack, many, SandboxLevel::metered);
}

TEST_F(Attacks, TakeAllMemory) {  // sandbox-16
  const auto took = [](const ProcessResult& result) { return result.output.ends_with("all"); };
  auto alone = perl("my $x = 'x' x (300 << 20); print 'all'");
  ASSERT_TRUE(took(run_at(alone, SandboxLevel::restricted)));
  alone.limits.memory = 100 << 20;
  ++tried_;
  const auto result = run_at(alone, SandboxLevel::restricted);
  EXPECT_FALSE(took(result));
  if (!took(result)) ++refused_;
  // Each has less than the limit; together they have more.
  auto together = perl(
      "pipe(my $r, my $w); for (1 .. 4) { fork or do { my $x = 'x' x (50 << 20); syswrite $w, 'x'; sleep 9; "
      "exit } } "
      "close $w; my $n = 0; $n += sysread($r, my $b, 1) for 1 .. 4; print $n == 4 ? 'all' : 'some'");
  together.limits.memory = 150 << 20;
  expect_refused(together, took, SandboxLevel::metered);
}

TEST_F(Attacks, FillTheDisk) {  // sandbox-17
  auto attack = writing(perl("open(my $f, '>', 'big'); print $f 'x' x 1000 for 1 .. 3000"));
  const auto size = [&](const ProcessResult&) { return std::filesystem::file_size(root_ + "/inside/big"); };
  EXPECT_EQ(size(run_at(attack, SandboxLevel::restricted)), 3'000'000u);
  attack.limits.file_size = 1'000'000;
  ++tried_;
  const auto result = run_at(attack, SandboxLevel::restricted);
  EXPECT_EQ(result.exit_status, 128 + SIGXFSZ);
  EXPECT_EQ(size(result), 1'000'000u);
  if (result.exit_status != 0) ++refused_;
}

TEST_F(Attacks, TalkToADaemonThroughItsSocket) {
  sockaddr_un address{.sun_family = AF_UNIX};
  const auto path = root_ + "/inside/s";
  ASSERT_LT(path.size(), sizeof address.sun_path);
  path.copy(address.sun_path, path.size());
  const int listener = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ASSERT_EQ(::bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(::listen(listener, 8), 0);
  const std::string dial =
      "use Socket; my $c; print socket($c, PF_UNIX, SOCK_STREAM, 0) && connect($c, sockaddr_un('s')) ? "
      "'reached' "
      ": 'no'";
  expect_refused_saying(writing(perl(dial)), "reached");
  auto with_network = writing(perl(dial));
  with_network.network = true;
  expect_refused_saying(with_network, "reached");
  ::close(listener);
}

TEST_F(Attacks, ReachIntoTheKernel) {
  struct Case {
    std::string what;
    long call;
    std::string arguments;
  };
  const Case cases[] = {{"keyctl", SYS_keyctl, "0, -3, 1"},  // the session keyring's id
                        {"add_key", SYS_add_key, "\"user\", \"deputy\", \"x\", 1, -2"},
                        {"perf", SYS_perf_event_open, "pack('LLQx112', 1, 120, 0), 0, -1, -1, 0"},
                        {"memory", SYS_userfaultfd, "1"},
                        {"handle", SYS_fanotify_init, "0x200, 0"}};
  for (const auto& [what, call, arguments] : cases) {
    const auto attack =
        perl("$! = 0; my $r = syscall(shift() + 0, " + arguments + "); print $r >= 0 ? 'passed' : \"no $!\"",
             {std::to_string(call)});
    if (run_at(attack, SandboxLevel::none).output != "passed") continue;  // not to be had here by anybody
    expect_refused_saying(attack, "passed");
  }
}

}  // namespace
}  // namespace deputy
