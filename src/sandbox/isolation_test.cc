// The world of an isolated process, looked at from inside, and what happens where it cannot be had. Each
// refusal stands beside something that works.
#include <sched.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "async/task_group.h"
#include "base/json.h"
#include "gmock/gmock.h"
#include "sandbox/processes_fixture.h"
#include "support/another_process.h"

namespace deputy {
namespace {

using testing::HasSubstr;
using testing::Not;

class Isolation : public ProcessesFixture {
 protected:
  void SetUp() override {
    level_ = SandboxLevel::isolated;
    if (!has_level(level_)) GTEST_SKIP() << "this machine cannot isolate processes";
  }

  std::string said(const std::string& script, Access access = Access::read) {
    auto wanted = shell("(" + script + ") 2>&1");
    wanted.folder_access = access;
    return run_it(std::move(wanted)).output;
  }
};

TEST_F(Isolation, ShowsTheFolderTheSystemAndNothingElse) {
  EXPECT_EQ(said("cat file; ls -A / | grep -v '^lib'"),
            "what is inside\n.deputy-init\nbin\ndev\netc\nproc\nrun\nsbin\ntmp\nusr\n");
  EXPECT_EQ(said("ls -A /run; for f in /home /root /var /opt /srv /mnt /sys; do test -e $f && echo $f; done"),
            "");
  EXPECT_THAT(said("cat " + root_ + "/outside"), HasSubstr("No such file"));
  EXPECT_THAT(said("cat /etc/shadow"), HasSubstr("No such file"));
  EXPECT_EQ(said("ls -A " + root_), "inside\n");
}

TEST_F(Isolation, AFolderToReadCannotBeChanged) {
  for (const std::string attempt :
       {"echo x > file", "touch new", "rm file", "mv file other", "chmod 777 file", "mkdir d"})
    EXPECT_THAT(said(attempt), HasSubstr("Read-only file system")) << attempt;
  EXPECT_EQ(read_file("inside/file"), "what is inside\n");
}

TEST_F(Isolation, AFolderToWriteCanBeWorkedIn) {
  EXPECT_EQ(said("echo x > new && chmod 755 new && mkdir d && mv new d/x && touch -d 2020-01-01 d/x && ln -s "
                 "d/x l && cat l",
                 Access::write),
            "x\n");
  EXPECT_EQ(read_file("inside/d/x"), "x\n");
  EXPECT_EQ(said("printf '#!/bin/sh\\necho ran' > p; chmod +x p; ./p", Access::write), "ran\n");
}

TEST_F(Isolation, FoldersOfItsOwnVanishWithIt) {
  auto wanted =
      shell("echo mine > /tmp/t && echo mine > /run/r && echo mine > ~/h && cat /tmp/t /run/r ~/h; ls -A ~");
  wanted.environment["HOME"] = "/home/deputy-nobody";
  EXPECT_EQ(run_it(std::move(wanted)).output, "mine\nmine\nmine\nh\n");
  EXPECT_FALSE(std::filesystem::exists("/tmp/t"));
  EXPECT_FALSE(std::filesystem::exists("/home/deputy-nobody"));
  EXPECT_THAT(said("echo x > /new"), HasSubstr("Read-only file system"));
  EXPECT_THAT(said("echo x > /usr/new"), HasSubstr("Read-only file system"));
}

TEST_F(Isolation, RootsAreSeenAtTheirOwnPath) {
  for (const std::string name : {"read", "write"}) std::filesystem::create_directory(root_ + "/" + name);
  write_file("read/a", "readable\n");
  auto wanted = shell("cat ../read/a; echo x > ../write/b; echo x > ../read/b; ls -A ..");
  wanted.roots = {{root_ + "/read", Access::read}, {root_ + "/write", Access::write}};
  const auto result = run_it(std::move(wanted));
  EXPECT_EQ(result.output, "readable\ninside\nread\nwrite\n");
  EXPECT_THAT(result.errors, HasSubstr("Read-only file system"));
  EXPECT_EQ(read_file("write/b"), "x\n");
}

TEST_F(Isolation, ARootWidensNothingInTheFolder) {
  std::filesystem::create_directory(root_ + "/inside/sub");
  for (const std::string& root : {root_, root_ + "/inside", root_ + "/inside/sub"}) {
    auto wanted = shell("echo x > sub/new; echo x > new");
    wanted.roots = {{root, Access::write}};
    EXPECT_EQ(run_it(std::move(wanted)).exit_status, 2) << root;
  }
  EXPECT_FALSE(std::filesystem::exists(root_ + "/inside/new"));
  EXPECT_FALSE(std::filesystem::exists(root_ + "/inside/sub/new"));
}

TEST_F(Isolation, AScratchFolderInsideWhatIsHiddenIsSeen) {
  const std::string state = root_ + "/inside/.deputy/subagents/";
  std::filesystem::create_directories(state + "agent_1");
  std::filesystem::create_directories(state + "agent_2");
  const auto scratch = SystemDisk().open(state + "agent_1", IfAbsent::fail);
  ASSERT_TRUE(scratch.has_value());
  auto wanted = shell("echo x > mine; ls -A ..; ls -A ../../..; echo x > ../../../file");
  wanted.folder = scratch->get();
  wanted.folder_access = Access::write;
  wanted.roots = {{root_ + "/inside", Access::read}};
  const auto result = run_it(std::move(wanted));
  EXPECT_EQ(result.output, "agent_1\n.deputy\nfile\n");
  EXPECT_THAT(result.errors, HasSubstr("Read-only file system"));
  EXPECT_EQ(read_file("inside/.deputy/subagents/agent_1/mine"), "x\n");
}

TEST_F(Isolation, HidesDeputysOwnState) {
  std::filesystem::create_directories(root_ + "/inside/.deputy");
  std::filesystem::create_directories(root_ + "/inside/state");
  write_file("inside/.deputy/config.toml", "secret\n");
  write_file("inside/state/journal", "secret\n");
  SystemProcesses hiding(loop_, SandboxSettings{.init_path = bin_dir() + "/deputy-init",
                                                .hidden = {root_ + "/inside/state", root_ + "/nowhere"}});
  for (const Access access : {Access::read, Access::write}) {
    auto wanted = shell(
        "cat .deputy/* state/*; echo x > .deputy/config.toml; echo x > state/journal; mv .deputy other");
    wanted.folder_access = access;
    const auto result = run(loop_, hiding.run(std::move(wanted), {}));
    ASSERT_TRUE(result.has_value()) << to_text(result.error());
    EXPECT_EQ(result->output, "");
    EXPECT_NE(result->exit_status, 0);
  }
  EXPECT_EQ(said("cat state/journal"), "secret\n");  // seen by who does not hide it
  EXPECT_EQ(read_file("inside/.deputy/config.toml"), "secret\n");
  EXPECT_EQ(read_file("inside/state/journal"), "secret\n");
}

TEST_F(Isolation, AStateFolderThatIsALinkIsRefused) {
  std::filesystem::create_directory(root_ + "/inside/other");
  std::filesystem::create_symlink("other", root_ + "/inside/.deputy");
  auto wanted = spec({"true"});
  EXPECT_EQ(run_it(wanted).exit_status, 0);
  wanted.folder_access = Access::write;
  EXPECT_EQ(try_run(wanted).error().code, ErrorCode::denied);
}

TEST_F(Isolation, WhatGitWouldExecuteCannotBeChanged) {
  std::filesystem::create_directories(root_ + "/inside/.git/refs");
  write_file("inside/.git/config", "[core]\n");
  EXPECT_EQ(said("cat .git/config", Access::write), "[core]\n");
  for (const std::string attempt :
       {"echo x > .git/config", "mv .git .git2", "mv .git/refs x", "echo ../evil > .git/commondir",
        "mkdir -p .git/hooks; echo x > .git/hooks/pre-commit", "rm -r .git/refs"}) {
    EXPECT_THAT(said(attempt, Access::write),
                testing::AnyOf(HasSubstr("Read-only file system"), HasSubstr("busy")))
        << attempt;
  }
  EXPECT_EQ(read_file("inside/.git/config"), "[core]\n");
}

TEST_F(Isolation, AFileThatLeadsToARepositoryCannotBeChangedAndALinkIsRefused) {
  write_file("inside/.git", "gitdir: elsewhere\n");
  EXPECT_THAT(said("echo gitdir: evil > .git", Access::write), HasSubstr("Read-only file system"));
  EXPECT_EQ(read_file("inside/.git"), "gitdir: elsewhere\n");
  std::filesystem::remove(root_ + "/inside/.git");
  std::filesystem::create_directory(root_ + "/inside/repository");
  std::filesystem::create_symlink("repository", root_ + "/inside/.git");
  auto wanted = spec({"true"});
  wanted.folder_access = Access::write;
  EXPECT_EQ(try_run(wanted).error().code, ErrorCode::denied);
}

TEST_F(Isolation, HasAnEmptyNetworkOfItsOwn) {
  const std::string listen = R"(use Socket; socket(my $s, PF_INET, SOCK_STREAM, 0) or die "socket $!";
      bind($s, sockaddr_in(0, INADDR_LOOPBACK)) && listen($s, 1) or die; my ($port) = sockaddr_in(getsockname($s));
      socket(my $c, PF_INET, SOCK_STREAM, 0); print connect($c, sockaddr_in($port, INADDR_LOOPBACK)) ? 'own ' : "no $!";
      open(my $f, '<', '/proc/net/dev'); my @lines = <$f>; print scalar(@lines) - 2)";
  EXPECT_EQ(run_it(perl(listen)).output, "own 1");
}

TEST_F(Isolation, ReachesTheNetworkOnlyWhenGranted) {
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{.sin_family = AF_INET, .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
  socklen_t size = sizeof address;
  ASSERT_EQ(::bind(listener, reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(::listen(listener, 8), 0);
  ASSERT_EQ(::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size), 0);
  const std::string dial = R"(use Socket; socket(my $c, PF_INET, SOCK_STREAM, 0) or print 'none ';
      print connect($c, sockaddr_in(shift, INADDR_LOOPBACK)) ? 'reached' : 'not')";
  for (const auto level : {SandboxLevel::restricted, SandboxLevel::isolated}) {
    level_ = level;
    auto wanted = perl(dial, {std::to_string(ntohs(address.sin_port))});
    EXPECT_THAT(run_it(wanted).output, testing::EndsWith("not"));
    wanted.network = true;
    EXPECT_EQ(run_it(wanted).output, "reached");
  }
  ::close(listener);
}

// Landlock does not see them, and a mount that is read-only does not keep one from connecting.
TEST_F(Isolation, ReachesNoSocketByItsName) {
  sockaddr_un address{.sun_family = AF_UNIX};
  const auto path = root_ + "/inside/s";
  ASSERT_LT(path.size(), sizeof address.sun_path);
  path.copy(address.sun_path, path.size());
  const int listener = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ASSERT_EQ(::bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(::listen(listener, 8), 0);
  const std::string dial =
      "use Socket; my $c; socket($c, PF_UNIX, SOCK_STREAM, 0) && connect($c, sockaddr_un('s')) and print "
      "'reached'; socketpair(my $a, my $b, PF_UNIX, SOCK_STREAM, 0) and print ' pair'";
  for (const bool network : {false, true}) {
    auto wanted = perl(dial);
    wanted.network = network;
    wanted.folder_access = Access::write;
    EXPECT_EQ(run_it(wanted).output, " pair");
  }
  level_ = SandboxLevel::none;
  EXPECT_EQ(run_it(perl(dial)).output, "reached pair");
  ::close(listener);
}

TEST_F(Isolation, SeesOnlyItsOwnProcesses) {
  EXPECT_EQ(said("for p in /proc/[0-9]*; do tr '\\0' ' ' < $p/cmdline | cut -c 1-14; echo; done | grep -c "
                 "deputy-init"),
            "1\n");
  EXPECT_EQ(said("echo $$; for p in 1 -1; do kill -9 $p 2>/dev/null || echo refused; done; echo alive"),
            "2\nrefused\nrefused\nalive\n");
  EXPECT_THAT(said("cat /proc/1/environ /proc/1/maps; ls /proc/1/fd /proc/1/root/"), Not(HasSubstr("x86")));
  EXPECT_THAT(said("ls /proc/1/root/"), HasSubstr("Permission denied"));
}

TEST_F(Isolation, GainsNoPrivilegesAndHasNoCapabilities) {
  EXPECT_EQ(said("grep -E 'NoNewPrivs|CapPrm|CapEff|CapBnd|CapAmb|Seccomp:' /proc/self/status | tr -d '\\t'"),
            "CapPrm:0000000000000000\nCapEff:0000000000000000\nCapBnd:0000000000000000\n"
            "CapAmb:0000000000000000\nNoNewPrivs:1\nSeccomp:2\n");
}

TEST_F(Isolation, LeavesTheMachinesDevicesAsTheyAre) {
  struct stat before{};
  ASSERT_EQ(::stat("/dev/null", &before), 0);
  EXPECT_THAT(said("chmod 600 /dev/null"),
              testing::AnyOf(HasSubstr("Read-only file system"), HasSubstr("not permitted")));
  EXPECT_EQ(run_it(perl("print open(my $f, '<&=', 0) && chmod(0600, $f) ? 'changed' : 'kept'")).output,
            "kept");
  struct stat after{};
  ASSERT_EQ(::stat("/dev/null", &after), 0);
  EXPECT_EQ(after.st_mode, before.st_mode);
  EXPECT_EQ(said("echo x > /dev/null && head -c 4 /dev/zero | wc -c"), "4\n");
}

TEST_F(Isolation, TheRootOfTheFileSystemCannotBeGiven) {
  const auto top = SystemDisk().open("/", IfAbsent::fail);
  ASSERT_TRUE(top.has_value());
  auto wanted = spec({"true"});
  wanted.folder = top->get();
  EXPECT_EQ(try_run(wanted).error().code, ErrorCode::invalid);
  wanted = spec({"true"});
  wanted.roots = {{"/proc/self", Access::read}};
  EXPECT_EQ(try_run(wanted).error().code, ErrorCode::invalid);
  wanted.roots = {{"relative", Access::read}};
  EXPECT_EQ(try_run(wanted).error().code, ErrorCode::invalid);
  wanted.roots = {{root_ + "/nowhere", Access::read}};
  EXPECT_EQ(try_run(wanted).error().code, ErrorCode::not_found);
}

TEST_F(Isolation, TakesAsManyRootsAsItSaysAndNotOneMore) {
  auto wanted = spec({"true"});
  for (std::size_t i = 0; i < kMostRoots; ++i) {
    const auto path = root_ + "/root" + std::to_string(i);
    std::filesystem::create_directories(path + "/.git/hooks");
    std::filesystem::create_directories(path + "/.deputy");
    std::ofstream(path + "/.git/config") << "x";
    wanted.roots.push_back({path, Access::write});
  }
  wanted.folder_access = Access::write;
  EXPECT_EQ(run_it(wanted).exit_status, 0);
  wanted.roots.push_back({root_, Access::read});
  EXPECT_EQ(try_run(wanted).error().code, ErrorCode::invalid);
}

// As on a machine that forbids user namespaces to ordinary users.
bool become_user_without_namespaces() {
  const auto put = [](const char* path, const char* text) {
    std::ofstream file(path);
    file << text << std::flush;
    return file.good();
  };
  const auto map = "1000 " + std::to_string(::getuid()) + " 1";
  return ::unshare(CLONE_NEWUSER) == 0 && put("/proc/self/uid_map", map.c_str()) &&
         put("/proc/sys/user/max_user_namespaces", "0");
}

class SandboxFor : public ProcessesFixture {
 protected:
  // The folder of the build need not be open to others.
  SandboxFor() { std::filesystem::copy_file(bin_dir() + "/deputy-init", init_); }
  // What `wanted` says, run by whoever this process has become.
  std::string outcome(const ProcessSpec& wanted) {
    SystemLoop loop;
    SystemProcesses processes(loop, init_);
    const auto result = run(loop, processes.run(wanted, {}));
    return result
               ? "L" + std::to_string(static_cast<int>(result->level)) + " " + result->output + result->errors
               : to_text(result.error());
  }
  std::string probe() const {
    SystemLoop loop;
    SystemProcesses processes(loop, init_);
    return run(loop, processes.probe({})).value_or("");
  }
  void give_to(uid_t user) {
    for (const auto& path : {root_, root_ + "/inside", root_ + "/inside/file"})
      ASSERT_EQ(::chown(path.c_str(), user, user), 0);
  }
  const std::string init_ = root_ + "/deputy-init";
};

TEST_F(SandboxFor, AnOrdinaryUserIsolates) {
  if (::getuid() != 0) GTEST_SKIP() << "only root can become somebody else; the other tests run as this user";
  if (!has_level(SandboxLevel::isolated)) GTEST_SKIP() << "this machine cannot isolate processes";
  give_to(kNobody);
  auto wanted = shell(
      "id -u; cat file; echo x > new && cat new; cat ../outside; ls -A /home; chmod 666 /dev/null; "
      "awk '/Max processes/{print $3}' /proc/self/limits");
  wanted.folder_access = Access::write;
  wanted.need = SandboxLevel::isolated;
  wanted.aim = SandboxLevel::metered;
  const auto text = in_another_process(become_nobody, [&] { return outcome(wanted); });
  EXPECT_THAT(text, testing::MatchesRegex("L[23] 65534\nwhat is inside\nx\n512\n(.|\n)*"));
  EXPECT_THAT(text, HasSubstr("../outside: No such file"));
  EXPECT_THAT(text, HasSubstr("chmod"));
}

TEST_F(SandboxFor, ASetuidProgramGivesAnOrdinaryUserNothing) {
  if (::getuid() != 0) GTEST_SKIP() << "only root can make such a program";
  give_to(kNobody);
  ASSERT_TRUE(std::filesystem::copy_file("/usr/bin/id", root_ + "/inside/id"));
  ASSERT_EQ(::chmod((root_ + "/inside/id").c_str(), 04755), 0);
  auto wanted = shell("./id -u");
  wanted.folder_access = Access::write;
  const auto said_at = [&](SandboxLevel level) {
    wanted.need = wanted.aim = level;
    return in_another_process(become_nobody, [&] { return outcome(wanted); });
  };
  if (said_at(SandboxLevel::none) != "L0 0\n")
    GTEST_SKIP() << "such programs do nothing in this folder anyway";
  EXPECT_EQ(said_at(SandboxLevel::restricted), "L1 65534\n");
  if (has_level(SandboxLevel::isolated)) EXPECT_EQ(said_at(SandboxLevel::isolated), "L2 65534\n");
}

TEST_F(SandboxFor, AnOrdinaryUsersProcessesAreLimitedInNumber) {
  if (::getuid() != 0) GTEST_SKIP() << "only root can become somebody else";
  if (!has_level(SandboxLevel::isolated)) GTEST_SKIP() << "this machine cannot isolate processes";
  give_to(kNobody);
  auto wanted = perl(
      "my $n = 0; for (1 .. 60) { my $p = fork; last unless defined $p; if (!$p) { sleep 9; exit } ++$n } "
      "print $n");
  wanted.need = wanted.aim = SandboxLevel::isolated;
  EXPECT_EQ(in_another_process(become_nobody, [&] { return outcome(wanted); }), "L2 60");
  wanted.limits.processes = 20;
  const auto text = in_another_process(become_nobody, [&] { return outcome(wanted); });
  EXPECT_THAT(text, testing::MatchesRegex("L2 1[0-9]"));
}

TEST_F(SandboxFor, WithoutNamespacesItRestrictsAndSaysWhy) {
  if (::getuid() == 0) give_to(::getuid());
  auto wanted = shell("cat file; cat ../outside");
  wanted.aim = SandboxLevel::metered;
  wanted.need = SandboxLevel::restricted;
  const auto restricted = in_another_process(become_user_without_namespaces, [&] { return outcome(wanted); });
  if (restricted == "cannot be had here") GTEST_SKIP() << "no user namespace to try it in";
  EXPECT_THAT(restricted, HasSubstr("L1 what is inside\n"));
  EXPECT_THAT(restricted, HasSubstr("Permission denied"));
  wanted.need = SandboxLevel::isolated;
  const auto refused = in_another_process(become_user_without_namespaces, [&] { return outcome(wanted); });
  EXPECT_THAT(refused, HasSubstr("sh was not started: it must run isolated (level 2), and this machine can "
                                 "only do restricted (level 1)"));
  EXPECT_THAT(refused, HasSubstr("allow user namespaces"));
  const auto facts =
      parse_json_object(in_another_process(become_user_without_namespaces, [&] { return probe(); }));
  ASSERT_TRUE(facts.has_value());
  EXPECT_EQ(integer_or(*facts, "level", 0), 1);
  EXPECT_EQ(bool_at(*facts, "userns"), false);
  EXPECT_THAT(string_or(*facts, "why", ""), HasSubstr("namespaces cannot be made: bwrap:"));
}

class SandboxProbe : public ProcessesFixture {
 protected:
  Capability capability_with(std::string bwrap) {
    SystemProcesses processes(
        loop_, SandboxSettings{.init_path = bin_dir() + "/deputy-init", .bwrap = std::move(bwrap)});
    const auto found = run(loop_, processes.capability({}));
    EXPECT_TRUE(found.has_value());
    return found.value_or(Capability{});
  }
};

TEST_F(SandboxProbe, SaysWhatThisMachineCanDoAsJson) {
  const auto line = run(loop_, processes_.probe({}));
  ASSERT_TRUE(line.has_value()) << to_text(line.error());
  EXPECT_FALSE(line->contains('\n'));
  const auto facts = parse_json_object(*line);
  ASSERT_TRUE(facts.has_value());
  const auto level = integer_or(*facts, "level", -1);
  EXPECT_GE(level, 0);
  EXPECT_LE(level, 3);
  EXPECT_EQ(string_or(*facts, "why", "").empty(), level == 3) << *line;
  EXPECT_EQ(string_or(*facts, "fix", "").empty(), level == 3) << *line;
}

Task<> ask(SystemProcesses& processes, StopToken stop, Result<Capability>* answer) {
  *answer = co_await processes.capability(stop);
}

TEST_F(SandboxProbe, IsTriedOnceForAllWhoAskAtOnce) {
  write_file("bwrap", "#!/bin/sh\necho tried >> " + root_ + "/tried\nexit 1\n");
  std::filesystem::permissions(root_ + "/bwrap", std::filesystem::perms::owner_all);
  SystemProcesses processes(
      loop_, SandboxSettings{.init_path = bin_dir() + "/deputy-init", .bwrap = root_ + "/bwrap"});
  const StopSource first;  // whoever tries may be stopped meanwhile: then the next one does
  std::vector<Result<Capability>> answers(10);
  TaskGroup group(loop_);
  for (std::size_t i = 0; i < answers.size(); ++i)
    group.spawn(ask(processes, i == 0 ? first.token() : StopToken(), &answers[i]));
  loop_.post([&] { first.request(StopReason::user); });
  run(loop_, group.join());
  EXPECT_EQ(answers[0].error(), Error::cancelled());
  for (std::size_t i = 1; i < answers.size(); ++i) {
    ASSERT_TRUE(answers[i].has_value()) << to_text(answers[i].error());
    EXPECT_EQ(answers[i]->level, SandboxLevel::restricted);
  }
  EXPECT_THAT(read_file("tried"), testing::AnyOf("tried\n", "tried\ntried\n"));
}

TEST_F(SandboxProbe, NamesWhatIsMissing) {
  const auto without = capability_with("/nowhere/bwrap");
  EXPECT_EQ(without.level, SandboxLevel::restricted);
  EXPECT_THAT(without.why, HasSubstr("there is no program /nowhere/bwrap"));
  EXPECT_THAT(without.fix, HasSubstr("install bubblewrap"));
  const auto broken = capability_with("/usr/bin/false");
  EXPECT_EQ(broken.level, SandboxLevel::restricted);
  EXPECT_THAT(broken.why, HasSubstr("bwrap said nothing"));
}

// Once it has isolated, deputy-init leads to itself and is started no more: any reason but that it is missing
// counts as one of the machine, which is busy.
TEST_F(SandboxProbe, KeepsWhatIsKnownThoughNothingMoreCanBeTried) {
  if (!has_level(SandboxLevel::isolated)) GTEST_SKIP() << "this machine cannot isolate processes";
  const std::string init = root_ + "/init";
  std::filesystem::create_symlink(bin_dir() + "/deputy-init", init);
  write_file("bwrap", "#!/bin/sh\nbwrap \"$@\"; status=$?; ln -sf init '" + init + "'; exit $status\n");
  std::filesystem::permissions(root_ + "/bwrap", std::filesystem::perms::owner_all);
  SystemProcesses processes(loop_, SandboxSettings{.init_path = init, .bwrap = root_ + "/bwrap"});
  const auto found = run(loop_, processes.capability({}));
  EXPECT_EQ(std::filesystem::read_symlink(init), "init") << "it was not put to the test";
  ASSERT_TRUE(found) << to_text(found.error());
  EXPECT_GE(found->level, SandboxLevel::isolated);
}

// Whatever stands in its place must not pass for a sandbox.
TEST_F(SandboxProbe, IsNotTakenInByABwrapThatIsolatesNothing) {
  write_file("bwrap", "#!/bin/sh\nwhile [ \"$1\" != -- ]; do shift; done; shift; shift; exec " + bin_dir() +
                          "/deputy-init \"$@\"\n");
  std::filesystem::permissions(root_ + "/bwrap", std::filesystem::perms::owner_all);
  EXPECT_EQ(capability_with(root_ + "/bwrap").level, SandboxLevel::restricted);
}

TEST_F(SandboxProbe, BelowTheNeedNothingIsStarted) {
  SystemProcesses processes(
      loop_, SandboxSettings{.init_path = bin_dir() + "/deputy-init", .bwrap = "/usr/bin/false"});
  auto wanted = shell("echo x > new");
  wanted.folder_access = Access::write;
  wanted.aim = SandboxLevel::metered;
  for (const auto need : {SandboxLevel::isolated, SandboxLevel::metered}) {
    wanted.need = need;
    const auto result = run(loop_, processes.run(wanted, {}));
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().code, ErrorCode::unavailable);
    EXPECT_THAT(result.error().message, HasSubstr("was not started"));
    EXPECT_FALSE(result.error().advice.empty());
  }
  EXPECT_FALSE(std::filesystem::exists(root_ + "/inside/new"));
  wanted.need = SandboxLevel::restricted;
  const auto result = run(loop_, processes.run(wanted, {}));
  ASSERT_TRUE(result.has_value()) << to_text(result.error());
  EXPECT_EQ(result->level, SandboxLevel::restricted);
  EXPECT_EQ(read_file("inside/new"), "x\n");
}

}  // namespace
}  // namespace deputy
