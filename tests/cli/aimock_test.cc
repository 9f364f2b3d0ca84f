// `deputy delegate` against aimock, a server of the providers' APIs that nobody here wrote: children with
// tool calls, a rate limit, a cut stream and a full context, for every shape. scripts/install-aimock brings
// it; what it answers is in tests/aimock/fixtures.json.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/json.h"
#include "deputy_program.h"
#include "provider_shape.h"
#include "support/canary.h"
#include "support/paths.h"

namespace deputy {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// The server, for as long as the test needs it.
class Aimock {
 public:
  explicit Aimock(const fs::path& program) {
    int out[2];
    EXPECT_EQ(::pipe2(out, O_CLOEXEC), 0);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, out[1], STDERR_FILENO);
    std::string fixtures = source_dir() + "/tests/aimock/fixtures.json";
    std::string words[] = {"node", program, "--port", "0", "--fixtures", fixtures};
    std::vector<char*> argv;
    for (auto& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    std::string keys = "AIMOCK_API_KEYS=" + canary_of_all_tests().key();
    std::string path = "PATH=/usr/local/bin:/usr/bin:/bin";
    char* environment[] = {keys.data(), path.data(), nullptr};
    EXPECT_EQ(::posix_spawnp(&pid_, "node", &actions, nullptr, argv.data(), environment), 0);
    posix_spawn_file_actions_destroy(&actions);
    ::close(out[1]);
    out_ = out[0];
    read_address();
  }
  ~Aimock() {
    ::close(out_);
    if (pid_ < 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Aimock(const Aimock&) = delete;
  const std::string& url() const { return url_; }

 private:
  void read_address() {
    constexpr std::string_view kSaid = "listening on ";
    std::string said;
    while (said.find(kSaid) == std::string::npos || said.find('\n', said.find(kSaid)) == std::string::npos) {
      pollfd asked{out_, POLLIN, 0};
      char bytes[4096];
      const bool is_ready = ::poll(&asked, 1, 30'000) > 0;
      const ssize_t count = is_ready ? ::read(out_, bytes, sizeof bytes) : 0;
      if (count <= 0) {
        ADD_FAILURE() << "aimock did not start: " << said;
        return;
      }
      said.append(bytes, static_cast<std::size_t>(count));
    }
    const std::size_t begin = said.find(kSaid) + kSaid.size();
    url_ = said.substr(begin, said.find_first_of("\r\n", begin) - begin);
  }
  pid_t pid_ = -1;
  int out_ = -1;
  std::string url_;
};

class AimockTest : public DeputyTest, public ::testing::WithParamInterface<ProviderShape> {
 protected:
  void SetUp() override {
    const fs::path folder = source_dir() + "/build/aimock/node_modules/@copilotkit/aimock/dist";
    NEEDS(fs::exists(folder / "cli.js"), "scripts/install-aimock has not installed aimock: " +
                                             contents(source_dir() + "/build/aimock-skipped"));
    aimock_ = std::make_unique<Aimock>(folder / "cli.js");
    write(work() / "fruit.txt", "apples and pears\n");
  }
  Ran delegate(const std::vector<std::string>& tasks, std::string key = canary_of_all_tests().key()) {
    const ProviderShape& shape = GetParam();
    std::vector<std::string> words{"delegate", "--model", shape.provider + "/of-" + shape.provider, "-v"};
    for (const auto& task : tasks) words.insert(words.end(), {"--task", task});
    return deputy({.words = words,
                   .input = {},
                   .environment = {{shape.key_variable, std::move(key)},
                                   {shape.address_variable, aimock_->url() + shape.path}},
                   .current = {}});
  }
  std::unique_ptr<Aimock> aimock_;
};

TEST_P(AimockTest, TwoChildrenCallToolsInParallelAndReport) {
  const auto ran = delegate({"first=Please read the fruit file", "second=Please search twice"});
  EXPECT_EQ(ran.status, 0) << ran.out << ran.err;
  EXPECT_THAT(ran.out,
              AllOf(HasSubstr("Subagents complete: 2/2"), HasSubstr("The file speaks of apples and pears."),
                    HasSubstr("Both searches found fruit.txt.")));
  EXPECT_THAT(ran.err,
              AllOf(HasSubstr("[first] Read fruit.txt"), HasSubstr("[first] note: a note of the first child"),
                    HasSubstr("[second] Grep pears"), HasSubstr("[second] Glob *.txt")));
}

TEST_P(AimockTest, ARateLimitAndACutStreamAreTriedAgain) {
  const auto ran = delegate({"limited=Please be patient", "cut=Please be cut off"});
  EXPECT_EQ(ran.status, 0) << ran.out << ran.err;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("The second attempt went through."),
                             HasSubstr("This text came whole."), Not(HasSubstr("never reaches its end"))));
}

TEST_P(AimockTest, AFullContextEndsPartialWithItsNotes) {
  const auto ran = delegate({"full=Please be too long"});
  EXPECT_EQ(ran.status, 3) << ran.out << ran.err;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("partial (context exhausted)"), HasSubstr("noted before the end")));
}

TEST_P(AimockTest, AWrongKeyIsAnErrorAtOnce) {
  const auto ran = delegate({"a=Please read the fruit file"}, "not-the-key-it-wants");
  EXPECT_EQ(ran.status, 1) << ran.out << ran.err;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("✗ error"), Not(HasSubstr("not-the-key-it-wants"))));
}

INSTANTIATE_TEST_SUITE_P(Shapes, AimockTest, every_shape(), name_of_shape);

}  // namespace
}  // namespace deputy
