#include "deputy_program.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "support/canary.h"
#include "support/paths.h"

namespace deputy {

namespace fs = std::filesystem;

namespace {

std::map<std::string, std::string> usual_environment(const fs::path& root) {
  std::map<std::string, std::string> variables{
      {"PATH", "/usr/bin:/bin"},
      {"HOME", root / "person"},
      {"DEPUTY_HOME", root / "home"},
      {"LC_ALL", "C.UTF-8"},
      {"TERM", "xterm"},
      {"TZ", "UTC"},
      {"OLLAMA_HOST", "127.0.0.1:1"},  // no model of the machine that the tests run on
      {"COMPATIBLE_API_KEY", canary_of_all_tests().key()}};
  for (const auto* name :
       {"ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS", "ASAN_SYMBOLIZER_PATH", "TSAN_OPTIONS"}) {
    if (const char* value = std::getenv(name)) variables[name] = value;
  }
  return variables;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (auto& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

int status_of(int waited) { return WIFEXITED(waited) ? WEXITSTATUS(waited) : 128 + WTERMSIG(waited); }

constexpr int kMostMillisecondsToWait = 60'000;  // for bytes of a terminal

// Nothing more comes.
bool is_at_end(int descriptor, std::string& into) {
  char bytes[4096];
  const ssize_t count = ::read(descriptor, bytes, sizeof bytes);
  if (count > 0) into.append(bytes, static_cast<std::size_t>(count));
  return count <= 0;  // a terminal ends with an error when its last user is gone
}

class Actions {
 public:
  Actions() { posix_spawn_file_actions_init(&actions_); }
  ~Actions() { posix_spawn_file_actions_destroy(&actions_); }
  void open(int at, const std::string& path, int flags) {
    posix_spawn_file_actions_addopen(&actions_, at, path.c_str(), flags, 0600);
  }
  void put(int from, int at) { posix_spawn_file_actions_adddup2(&actions_, from, at); }
  void go_to(const std::string& folder) { posix_spawn_file_actions_addchdir_np(&actions_, folder.c_str()); }
  posix_spawn_file_actions_t* get() { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_;
};

}  // namespace

Running::~Running() {
  if (out_ >= 0) ::close(out_);
  if (terminal_ >= 0) ::close(terminal_);
  if (pid_ < 0) return;
  EXPECT_THAT(canary_of_all_tests().command_lines(), ::testing::IsEmpty());
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

std::optional<std::string> Running::read_line() {
  for (;;) {
    if (const auto at = buffered_.find('\n'); at != std::string::npos) {
      std::string line = buffered_.substr(0, at + 1);
      buffered_.erase(0, at + 1);
      EXPECT_FALSE(canary_of_all_tests().is_in(line)) << line;
      return line;
    }
    char bytes[4096];
    const ssize_t count = ::read(out_, bytes, sizeof bytes);
    if (count <= 0) return std::nullopt;
    buffered_.append(bytes, static_cast<std::size_t>(count));
  }
}

std::string Running::read_until(std::string_view text) {
  std::string all;
  while (auto line = read_line()) {
    all += *line;
    if (line->contains(text)) return all;
  }
  ADD_FAILURE() << "the output ended before \"" << text << "\":\n" << all;
  return all;
}

std::string Running::read_screen_until(std::string_view text) {
  std::string shown;
  while (!shown.contains(text)) {
    pollfd asked{terminal_, POLLIN, 0};
    const bool has_come = ::poll(&asked, 1, kMostMillisecondsToWait) > 0;
    if (!has_come || is_at_end(terminal_, shown)) {
      ADD_FAILURE() << (has_come ? "the terminal ended" : "nothing has come for a minute") << " before \""
                    << text << "\":\n"
                    << shown;
      break;
    }
  }
  EXPECT_FALSE(canary_of_all_tests().is_in(shown)) << shown;
  return shown;
}

void Running::type(std::string_view keys) {
  ASSERT_EQ(::write(terminal_, keys.data(), keys.size()), ssize_t(keys.size()));
}

// At the end that the program has: the other would stop what is typed.
void Running::set_flow(int action) {
  const int end = ::open(::ptsname(terminal_), O_RDWR | O_NOCTTY | O_CLOEXEC);
  EXPECT_EQ(::tcflow(end, action), 0);
  ::close(end);
}

bool Running::is_terminal_cooked() const {
  termios mode{};
  EXPECT_EQ(::tcgetattr(terminal_, &mode), 0);
  return (mode.c_lflag & ICANON) != 0;
}

void Running::cook_terminal() {
  termios mode{};
  EXPECT_EQ(::tcgetattr(terminal_, &mode), 0);
  mode.c_lflag |= static_cast<tcflag_t>(ICANON | ECHO | ISIG);
  EXPECT_EQ(::tcsetattr(terminal_, TCSANOW, &mode), 0);
}

void Running::close_stdout() { ::close(std::exchange(out_, -1)); }

void Running::send(int signal) { ::kill(pid_, signal); }

Ran Running::wait() {
  EXPECT_THAT(canary_of_all_tests().command_lines(), ::testing::IsEmpty());
  Ran ran;
  ran.out = std::exchange(buffered_, "");
  // Both at once: a program that waits for one to be read would never end the other.
  pollfd streams[] = {{out_, POLLIN, 0}, {terminal_, POLLIN, 0}};
  while (streams[0].fd >= 0 || streams[1].fd >= 0) {
    if (::poll(streams, 2, -1) < 0) continue;
    for (auto& stream : streams) {
      if (stream.revents == 0) continue;
      if (is_at_end(stream.fd, &stream == streams ? ran.out : ran.err)) stream.fd = -1;
      stream.revents = 0;
    }
  }
  int waited = 0;
  ::waitpid(std::exchange(pid_, -1), &waited, 0);
  ran.status = status_of(waited);
  if (terminal_ < 0) {
    std::ifstream file(err_);
    ran.err.assign(std::istreambuf_iterator<char>(file), {});
  }
  EXPECT_FALSE(canary_of_all_tests().is_in(ran.out)) << ran.out;
  EXPECT_FALSE(canary_of_all_tests().is_in(ran.err)) << ran.err;
  return ran;
}

int Running::wait_for_end() {
  const int process = static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0));
  pollfd asked{process, POLLIN, 0};
  const bool has_ended = ::poll(&asked, 1, kMostMillisecondsToWait) > 0;
  ::close(process);
  if (!has_ended) {
    ADD_FAILURE() << "it has not ended within a minute";
    ::kill(pid_, SIGKILL);
  }
  int waited = 0;
  ::waitpid(std::exchange(pid_, -1), &waited, 0);
  return status_of(waited);
}

DeputyTest::DeputyTest() {
  std::string name = fs::temp_directory_path() / "deputy-cli-XXXXXX";
  root_ = ::mkdtemp(name.data());
  fs::create_directory(work());
  fs::create_directory(root_ / "person");
  fs::create_directory(root_ / "streams");
}

DeputyTest::~DeputyTest() {
  EXPECT_THAT(canary_of_all_tests().files_below(root_), ::testing::IsEmpty());
  std::error_code ignored;
  fs::remove_all(root_, ignored);
}

std::unique_ptr<Running> DeputyTest::spawn(const Start& start, bool on_terminal) const {
  auto running = std::make_unique<Running>();
  static int count = 0;
  const fs::path streams = root_ / "streams";
  running->err_ = streams / fmt::format("err{}", count);
  const fs::path input = streams / fmt::format("in{}", count++);
  write(input, start.input);
  int out[2];
  EXPECT_EQ(::pipe2(out, O_CLOEXEC), 0);
  Actions actions;
  if (on_terminal) {
    running->terminal_ = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    ::grantpt(running->terminal_);
    ::unlockpt(running->terminal_);
    const std::string slave = ::ptsname(running->terminal_);
    actions.open(STDIN_FILENO, slave, O_RDWR);
    actions.open(STDERR_FILENO, slave, O_RDWR);
  } else {
    actions.open(STDIN_FILENO, input, O_RDONLY);
    actions.open(STDERR_FILENO, running->err_, O_WRONLY | O_CREAT | O_TRUNC);
  }
  actions.put(out[1], STDOUT_FILENO);
  actions.go_to(start.current.empty() ? work() : start.current);

  std::vector<std::string> words = start.through;
  words.push_back(bin_dir() + "/deputy");
  const std::string program = words.front();
  if (start.through.empty()) words.front() = start.typed_name;
  words.insert(words.end(), start.words.begin(), start.words.end());
  auto variables = usual_environment(root_);
  for (const auto& [name, value] : start.environment) variables[name] = value;
  std::vector<std::string> environment;
  for (const auto& [name, value] : variables) environment.push_back(name + "=" + value);
  const int error = ::posix_spawn(&running->pid_, program.c_str(), actions.get(), nullptr,
                                  pointers_to(words).data(), pointers_to(environment).data());
  EXPECT_EQ(error, 0) << "cannot start " << program;
  fs::remove(input);  // what a test types in is none of what deputy leaves
  ::close(out[1]);
  running->out_ = out[0];
  return running;
}

Ran DeputyTest::deputy(const Start& start) { return spawn(start, false)->wait(); }

std::vector<std::string> DeputyTest::files_below(const fs::path& folder) {
  std::vector<std::string> names;
  if (fs::exists(folder)) {
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      names.push_back(fs::relative(entry.path(), folder));
    }
  }
  std::ranges::sort(names);
  return names;
}

std::string DeputyTest::contents(const fs::path& file) {
  // By <<, which takes a file of /proc that fails to be read, as its process has ended, for one that is
  // empty.
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return std::move(text).str();
}

void DeputyTest::write(const fs::path& file, std::string_view text) {
  fs::create_directories(file.parent_path());
  std::ofstream(file, std::ios::trunc) << text;
}

std::string DeputyTest::script(std::string_view text, std::string_view name) const {
  const fs::path file = root_ / name;
  write(file, text);
  return "scripted/" + file.string();
}

std::string DeputyTest::delegating(std::string_view wait) const {
  std::string text = R"({"v":1,"sessions":[
  {"match":{"agent":"main"},"replies":[
    {"text":"I ask two.","calls":[{"name":"Delegate","arguments":{"tasks":[
      {"label":"quick","prompt":"p"},{"label":"slow","prompt":"p"}]}}]},
    {"text":"Both have *reported*."},
    {"text":"And again. See [here](https://example.org)."}]},
  {"match":{"label":"quick"},"replies":[{"text":"quickly done"}]},
  {"match":{"label":"slow"},"replies":[
    {"calls":[{"name":"Note","arguments":{"content":"half way"}}]},
    {"first_byte_ms":WAIT,"text":"slowly done"}]}]})";
  text.replace(text.find("WAIT"), 4, wait);
  return script(text);
}

}  // namespace deputy
