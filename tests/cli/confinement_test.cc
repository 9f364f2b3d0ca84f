// What the program says of this machine's sandbox, and what it runs in it: as whoever runs the tests, as an
// ordinary user, and where user namespaces are forbidden.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <functional>

#include "app/sandbox_memory.h"
#include "base/json.h"
#include "deputy_program.h"
#include "support/paths.h"

namespace deputy {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr uid_t kNobody = 65534;

bool become_nobody() {
  return ::setgroups(0, nullptr) == 0 && ::setgid(kNobody) == 0 && ::setuid(kNobody) == 0;
}

bool put(const char* path, const std::string& text) {
  std::ofstream file(path);
  file << text << std::flush;
  return file.good();
}

// As on a machine that forbids user namespaces to ordinary users.
bool lose_namespaces() {
  const std::string map = "1000 " + std::to_string(::getuid()) + " 1";
  return ::unshare(CLONE_NEWUSER) == 0 && put("/proc/self/uid_map", map) &&
         put("/proc/sys/user/max_user_namespaces", "0");
}

class Confinement : public DeputyTest {
 protected:
  static constexpr int kCannot = 99;

  Confinement() { write(work() / "file", "what is inside\n"); }

  // The program, run by a process that has made something else of itself.
  Ran deputy_as(const std::function<bool()>& become, std::vector<std::string> words) {
    const std::string out = root() / "out";
    const std::string err = root() / "err";
    words.insert(words.begin(), bin_dir() + "/deputy");
    std::vector<std::string> environment{"PATH=/usr/bin:/bin",
                                         "HOME=" + (root() / "person").string(),
                                         "DEPUTY_HOME=" + home().string(),
                                         "LC_ALL=C.UTF-8",
                                         "OLLAMA_HOST=127.0.0.1:1",
                                         "ASAN_OPTIONS=detect_leaks=0"};
    const pid_t child = ::fork();
    if (child == 0) {
      const int to_out = ::open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
      const int to_err = ::open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
      if (!become() || ::chdir(work().c_str()) != 0 || ::access(words[0].c_str(), X_OK) != 0)
        ::_exit(kCannot);
      ::dup2(to_out, STDOUT_FILENO);
      ::dup2(to_err, STDERR_FILENO);
      ::dup2(::open("/dev/null", O_RDONLY), STDIN_FILENO);
      const auto pointers_to = [](std::vector<std::string>& texts) {
        std::vector<char*> pointers;
        for (auto& text : texts) pointers.push_back(text.data());
        pointers.push_back(nullptr);
        return pointers;
      };
      ::execve(words[0].c_str(), pointers_to(words).data(), pointers_to(environment).data());
      ::_exit(kCannot);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return {
        .status = WIFEXITED(status) ? WEXITSTATUS(status) : 128, .out = contents(out), .err = contents(err)};
  }

  void give_to_nobody() {
    fs::create_directories(home());
    for (const auto& path : {root(), home(), work(), work() / "file"})
      ASSERT_EQ(::chown(path.c_str(), kNobody, kNobody), 0);
  }

  // Of the sandbox alone.
  static std::string sandbox_in(const Ran& doctor) {
    const auto document = parse_json_object(doctor.out);
    if (!document) return doctor.out + doctor.err;
    for (const auto& check : *array_at(*document, "checks")) {
      const auto& object = check.as_object();
      if (string_at(object, "name") == "sandbox")
        return string_or(object, "found", "") + "\nfix: " + string_or(object, "fix", "");
    }
    return "no sandbox in it";
  }

  // A root that runs one command, and repeats what came of it.
  std::vector<std::string> run_command(const std::string& command) const {
    return {"run",
            "--yes",
            "--model",
            script(R"({"v":1,"sessions":[{"replies":[{"calls":[{"name":"Bash","arguments":{"command":")" +
                   command + R"("}}]},{"text":"ended"}]}]})"),
            "go",
            "--output",
            "json"};
  }
  // The root that was made last.
  std::string newest() {
    const auto listed = deputy({"sessions", "ls", "--output", "json"}).out;
    const auto at = listed.find("sess_");
    return at == std::string::npos ? listed : listed.substr(at, 22);
  }
  std::string journal() { return deputy({"sessions", "transcript", newest(), "--output", "json"}).out; }
  // As the store has them: the newest root's and those of all below it.
  std::vector<std::int64_t> recorded_levels() {
    const auto tree = parse_json_object(deputy({"sessions", "tree", newest(), "--output", "json"}).out);
    std::vector<std::int64_t> levels;
    if (tree) add_levels(*tree, levels);
    return levels;
  }
  static void add_levels(const json::object& session, std::vector<std::int64_t>& levels) {
    levels.push_back(integer_or(session, "sandbox_level", -1));
    for (const auto& child : *array_at(session, "children")) add_levels(child.as_object(), levels);
  }
  static bool is_isolating(const std::string& said) {
    return said.contains("level 2 of 3") || said.contains("level 3 of 3");
  }
};

TEST_F(Confinement, TheDoctorSaysTheLevelAndWho) {
  const auto said = sandbox_in(deputy({"doctor", "--output", "json"}));
  EXPECT_THAT(said, HasSubstr(::geteuid() == 0 ? "as root" : "as an ordinary user"));
  EXPECT_THAT(said, HasSubstr("of 3"));
  if (!is_isolating(said)) GTEST_SKIP() << "this machine cannot isolate processes: " << said;
  EXPECT_THAT(said, HasSubstr("user namespaces yes"));
}

TEST_F(Confinement, AnOrdinaryUserIsToldTheSameAndHasCommandsConfined) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become somebody else";
  if (!is_isolating(sandbox_in(deputy({"doctor", "--output", "json"}))))
    GTEST_SKIP() << "this machine cannot isolate processes";
  fs::remove_all(home());
  give_to_nobody();
  const auto doctor = deputy_as(become_nobody, {"doctor", "--output", "json"});
  if (doctor.status == kCannot) GTEST_SKIP() << "the program lies where others cannot read it";
  EXPECT_TRUE(is_isolating(sandbox_in(doctor))) << sandbox_in(doctor);
  EXPECT_THAT(sandbox_in(doctor), HasSubstr("as an ordinary user"));
  const auto words = run_command("cat file; id -u; cat /etc/shadow");
  ASSERT_EQ(::chown((root() / "script.json").c_str(), kNobody, kNobody), 0);
  const auto ran = deputy_as(become_nobody, words);
  EXPECT_EQ(ran.status, 0) << ran.err;
  const auto listed = deputy_as(become_nobody, {"sessions", "ls", "--output", "json"}).out;
  const auto transcript = deputy_as(
      become_nobody, {"sessions", "transcript", listed.substr(listed.find("sess_"), 22), "--output", "json"});
  EXPECT_THAT(transcript.out,
              AllOf(HasSubstr("what is inside"), HasSubstr("65534"), Not(HasSubstr("root:"))));
}

TEST_F(Confinement, WhereNamespacesAreForbiddenItSaysSoAndWhatToDo) {
  const auto doctor = deputy_as(lose_namespaces, {"doctor", "--output", "json"});
  if (doctor.status == kCannot) GTEST_SKIP() << "no user namespace to try it in";
  EXPECT_THAT(sandbox_in(doctor), AllOf(HasSubstr("level 1 of 3"), HasSubstr("user namespaces no"),
                                        HasSubstr("not higher because namespaces cannot be made"),
                                        HasSubstr("allow user namespaces")));
  const auto text = deputy_as(lose_namespaces, {"doctor"});
  EXPECT_THAT(text.out, HasSubstr("⚠ sandbox"));
}

TEST_F(Confinement, WhereNamespacesAreForbiddenACommandIsRefusedUnlessALowerLevelIsAllowed) {
  const auto refused = deputy_as(lose_namespaces, run_command("cat file"));
  if (refused.status == kCannot) GTEST_SKIP() << "no user namespace to try it in";
  EXPECT_THAT(journal(), AllOf(HasSubstr("it must run isolated (level 2)"),
                               HasSubstr("allow user namespaces"), Not(HasSubstr("what is inside"))));
  fs::remove_all(home());
  write(root() / "person/.config/deputy/config.toml", "[sandbox]\nleast = 1\n");
  deputy_as(lose_namespaces, run_command("cat file"));
  EXPECT_THAT(journal(), HasSubstr("what is inside"));
}

TEST_F(Confinement, EverySessionRecordsItsLevel) {
  const auto said = sandbox_in(deputy({"doctor", "--output", "json"}));
  const int level = said[said.find("level ") + 6] - '0';
  const auto model = script(R"({"v":1,"sessions":[{"match":{"depth":0},"replies":[{"calls":[
      {"name":"Delegate","arguments":{"tasks":[{"label":"a","prompt":"look"},{"label":"b","prompt":"look"}]}},
      {"name":"task","arguments":{"agent":"general","prompt":"work"}}]},{"text":"ended"}]},
      {"replies":[{"text":"seen"}]}]})");
  ASSERT_EQ(deputy({"run", "--yes", "--model", model, "go"}).status, 0);
  EXPECT_THAT(recorded_levels(), ElementsAre(level, level, level, level));
  EXPECT_THAT(deputy({"sessions", "show", newest()}).out, HasSubstr("level " + std::to_string(level)));
  ASSERT_EQ(deputy({"delegate", "--task", "a=look", "--model", model}).status, 0);
  EXPECT_THAT(recorded_levels(), ElementsAre(level, level));
  fs::remove_all(home());
  const auto ran = deputy_as(lose_namespaces, {"run", "--yes", "--model", model, "go"});
  if (ran.status == kCannot) GTEST_SKIP() << "no user namespace to try it in";
  EXPECT_THAT(recorded_levels(), ElementsAre(1, 1, 1, 1)) << ran.err;
}

// What was found out is remembered, and never believed more than the kernel.
TEST_F(Confinement, AWrongMemoryOfTheSandboxRefusesCommandsAndConfinesNoneLess) {
  const auto remember_wrongly = [this] {
    const SystemDisk disk;
    const std::shared_ptr<const Folder> state = disk.open(home().string(), IfAbsent::create).value();
    SandboxMemory(disk, state, bin_dir() + "/deputy-init")
        .keep({.level = SandboxLevel::metered, .landlock_abi = 7, .seccomp = true, .user_namespaces = true});
    return true;
  };
  const auto refused =
      deputy_as([&] { return lose_namespaces() && remember_wrongly(); }, run_command("cat file"));
  if (refused.status == kCannot) GTEST_SKIP() << "no user namespace to try it in";
  EXPECT_EQ(fs::status(home() / "sandbox.json").permissions(),
            fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_THAT(recorded_levels(), ElementsAre(3)) << "control: it was believed so far";
  EXPECT_THAT(journal(), AllOf(HasSubstr("was not started: its surroundings could not be made"),
                               HasSubstr("`deputy doctor`"), Not(HasSubstr("what is inside"))));
  const auto doctor = deputy_as(lose_namespaces, {"doctor", "--output", "json"});
  EXPECT_THAT(sandbox_in(doctor), HasSubstr("level 1 of 3")) << "it tries anew";
  EXPECT_FALSE(fs::exists(home() / "sandbox.json")) << "and what was wrong is forgotten";
}

TEST_F(Confinement, ACommandInTheBackgroundIsLostWithDeputyAndItsModelIsToldInItsNextStep) {
  const auto model = [this](std::string_view last) {
    return script(R"({"v":1,"sessions":[{"replies":[{"calls":[{"name":"Bash","arguments":
        {"command":"sleep 1000","run_in_background":true}}]},)" +
                  std::string(last) + "]}]}");
  };
  if (!is_isolating(sandbox_in(deputy({"doctor", "--output", "json"}))))
    GTEST_SKIP() << "this machine cannot isolate processes";
  auto running = start({"run", "--yes", "--model", model(R"({"first_byte_ms":86400000,"text":"late"})"),
                        "--output", "stream-json", "go"});
  running->read_until(R"("call":0,"result":"ok")");
  running->send(SIGHUP);
  EXPECT_EQ(running->wait().status, 130);
  model(R"({"expect":{"contains":"bash_0_0 (sleep 1000) does not run any more"},"text":"I know"})");
  const auto resumed = deputy({"resume"});
  EXPECT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_EQ(resumed.out, "I know\n");
}

TEST_F(Confinement, OfCommandsThatAKillTookAllIsToldThatIsKnown) {
  if (!is_isolating(sandbox_in(deputy({"doctor", "--output", "json"}))))
    GTEST_SKIP() << "this machine cannot isolate processes";
  const auto model = [this](std::string_view last) {
    return script(R"({"v":1,"sessions":[{"replies":[{"calls":[
        {"name":"Bash","arguments":{"command":"exit 7","run_in_background":true}},
        {"name":"Bash","arguments":{"command":"echo half > made; sleep 1000","run_in_background":true}},
        {"name":"Bash","arguments":{"command":"until test -s made; do sleep 0.02; done"}}]},)" +
                  std::string(last) + "]}]}");
  };
  auto running = start({"run", "--yes", "--model", model(R"({"first_byte_ms":86400000,"text":"late"})"),
                        "--output", "stream-json", "go"});
  for (bool has_ended = false, has_made = false; !has_ended || !has_made;) {
    const auto line = running->read_line();
    ASSERT_TRUE(line) << "it ended early";
    has_ended = has_ended || line->contains(R"("exit_status":7)");
    has_made = has_made || line->contains(R"("call":2,"result":"ok")");
  }
  running->send(SIGKILL);
  (void)running->wait();
  model(R"({"text":"I know"})");
  const auto resumed = deputy({"resume"});
  EXPECT_EQ(resumed.out, "I know\n") << resumed.err;
  EXPECT_THAT(journal(),
              AllOf(HasSubstr("bash_0_0 (exit 7) does not run any more: it had ended with exit status 7"),
                    HasSubstr("how far it came is unknown"), HasSubstr("by it or by others: made")));
}

TEST_F(Confinement, ACallThatWasRefusedIsTold) {
  const auto model = script(
      R"({"v":1,"sessions":[{"replies":[{"calls":[{"name":"Write","arguments":{"file_path":"x","content":"y"}}]},{"text":"ended"}]}]})");
  const auto ran = deputy({"run", "--yes", "--deny", "Edit", "--model", model, "go"});
  EXPECT_THAT(ran.err, HasSubstr("[main] Write refused: Not permitted: denied by rule Edit"));
  EXPECT_FALSE(fs::exists(work() / "x"));
  deputy({"run", "--yes", "--model", model, "go"});
  EXPECT_TRUE(fs::exists(work() / "x")) << "control";
}

TEST_F(Confinement, FoldersOfTheSettingsAreReachedWithinTheRules) {
  write(root() / "other/notes", "CANARY-0d51\n");
  const auto reading =
      script(R"({"v":1,"sessions":[{"replies":[{"calls":[
      {"name":"Read","arguments":{"file_path":")" +
             (root() / "other/notes").string() + R"("}},
      {"name":"Write","arguments":{"file_path":")" +
             (root() / "other/new").string() + R"(","content":"y"}}]},{"text":"ended"}]}]})");
  deputy({"run", "--yes", "--model", reading, "go"});
  EXPECT_THAT(journal(), Not(HasSubstr("CANARY-0d51"))) << "control: it lies outside";
  EXPECT_FALSE(fs::exists(root() / "other/new"));
  write(root() / "person/.config/deputy/config.toml",
        "allowed_paths = [\"" + (root() / "other").string() + "\"]\n");
  fs::remove_all(home());
  deputy({"run", "--model", reading, "go"});
  EXPECT_THAT(journal(), HasSubstr("CANARY-0d51"));
  EXPECT_FALSE(fs::exists(root() / "other/new")) << "nobody was there to be asked";
  fs::remove_all(home());
  deputy({"run", "--allow", "Write(" + (root() / "other/**").string() + ")", "--deny",
          "Read(" + (root() / "other/**").string() + ")", "--model", reading, "go"});
  EXPECT_THAT(journal(), Not(HasSubstr("CANARY-0d51")));
  EXPECT_TRUE(fs::exists(root() / "other/new"));
  write(root() / "person/.config/deputy/config.toml", "allowed_paths = [\"/no/such/folder\"]\n");
  const auto ran = deputy({"run", "--model", reading, "go"});
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.err, HasSubstr("allowed_paths"));
}

}  // namespace
}  // namespace deputy
