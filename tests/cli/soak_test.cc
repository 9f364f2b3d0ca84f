// As long as DEPUTY_SOAK_MINUTES says (./test --soak MINUTES): trees of 64 children behind a server that goes
// wrong, one after the other in one state folder; the process that runs them is killed with SIGKILL every ten
// seconds or so and the tree resumed. Nothing is lost, nothing made twice, nobody left behind, and a process
// late in the soak takes no more memory and has no more files open than one early in it. Beside them one
// process lives through it all, and runs such trees one after the other: it holds no more after the last than
// after the first.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#include <charconv>
#include <chrono>
#include <random>
#include <set>

#include "base/environment.h"
#include "base/json.h"
#include "deputy_program.h"
#include "soak_host.h"
#include "soak_play.h"
#include "soak_slope.h"
#include "soak_tally.h"

namespace deputy {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using Time = std::chrono::steady_clock::time_point;

constexpr int kMostKillsOfATree = 12;
constexpr auto kLongestLife = 10min;  // of a process that is not killed: a tree takes one or two
constexpr int kMinutesThatTell = 60;  // from then on nothing may grow but by noise
constexpr int kKillsAMinute = 2;      // at least: one comes every ten seconds, but for a tree's last
constexpr double kMostMegabytes = 1;  // by the hour
constexpr double kMostDescriptors = 1;
constexpr std::chrono::milliseconds kThinking{1500};
constexpr std::chrono::milliseconds kThinkingOfHost{2500};  // it is there to live long, not to be quick
constexpr int kLastingSeconds = 613;                        // nobody else's processes last as long
constexpr int kLastingSecondsOfHost = kLastingSeconds + 1;

Time now() { return std::chrono::steady_clock::now(); }

int minutes_to_soak() {
  const auto text = SystemEnvironment().get("DEPUTY_SOAK_MINUTES");
  int minutes = 0;
  if (text) std::from_chars(text->data(), text->data() + text->size(), minutes);
  return minutes;
}

TEST(ASoakHost, ThatDoesNotEndIsWaitedForNoLongerThanItMayTakeAndLeavesNothing) {
  const FaultServer server(std::vector<FaultProgram>{{fault::Silence{}}});
  std::string folder;
  {
    SoakHost host(server.url(), now() + 1s, 1s);
    folder = host.folder();
    const HostLife life = host.wait();
    EXPECT_FALSE(life.ended_in_order);
    EXPECT_EQ(life.trees, 0);
    EXPECT_FALSE(fs::is_empty(folder)) << "it had its files elsewhere, where nobody removes them";
  }
  EXPECT_FALSE(fs::exists(folder));
}

TEST(ASoakHost, BeginsNoTreeWhereItsTimeIsUp) {
  const FaultServer server(std::vector<FaultProgram>{{fault::Silence{}}});
  const HostLife life = SoakHost(server.url(), now()).wait();
  EXPECT_TRUE(life.ended_in_order);
  EXPECT_EQ(life.trees, 0);
}

class Soak : public DeputyTest {
 protected:
  static constexpr std::chrono::milliseconds kLookedAt{4000};  // of each life: all are compared at one age

  std::unique_ptr<Running> start_life(const std::string& url, bool is_resume) {
    std::vector<std::string> words = is_resume ? std::vector<std::string>{"resume", "--yes"}
                                               : std::vector<std::string>{"run",
                                                                          "--yes",
                                                                          "--model",
                                                                          "anthropic/claude-haiku-4-5",
                                                                          "--max-delegations",
                                                                          "none",
                                                                          std::string(kRootTask)};
    for (const char* word : {"--max-children", "none", "--max-live", "none", "--output", "json"})
      words.emplace_back(word);
    return start(with_access(std::move(words), url));
  }
  // What was freed is given back soon: what a process holds does not depend on how much it has done by then.
  static Start with_access(std::vector<std::string> words, const std::string& url) {
    return {.words = std::move(words),
            .input = {},
            .environment = {{"ANTHROPIC_BASE_URL", url},
                            {"ANTHROPIC_API_KEY", "soak-key-of-no-account"},
                            {"ASAN_OPTIONS",
                             SystemEnvironment().get("ASAN_OPTIONS").value_or("") + ":quarantine_size_mb=1"}},
            .current = {}};
  }
  static bool has_exited(pid_t pid) {
    siginfo_t info{};
    return ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid == pid;
  }
  // Without the connections of requests and the pipes of commands: how many of them are under way hangs on
  // how far it has come, and that on how busy the machine is.
  static std::optional<int> open_files(pid_t pid) {
    std::error_code gone;
    int open = 0;
    for (fs::directory_iterator entry(fmt::format("/proc/{}/fd", pid), gone), end; !gone && entry != end;
         entry.increment(gone)) {
      std::error_code closed;
      open += fs::read_symlink(entry->path(), closed).is_absolute() ? 1 : 0;
    }
    return gone ? std::nullopt : std::optional(open);
  }
  // What is its own, without the files that it has mapped: how much of these is there is the machine's.
  void look_at(pid_t pid, int kills) {
    constexpr std::string_view kOwn = "RssAnon:";
    const std::string status = contents(fmt::format("/proc/{}/status", pid));
    const auto at = status.find(kOwn);
    const auto open = open_files(pid);
    if (at == std::string::npos || !open) return;
    const double hours = std::chrono::duration<double, std::ratio<3600>>(now() - begun_).count();
    memory_.push_back({hours, std::strtod(status.c_str() + at + kOwn.size(), nullptr) / 1024, kills});
    open_files_.push_back({hours, static_cast<double>(*open), kills});
  }
  // Until it ends by itself, or has lived as long as it may. `kills`: that its tree has seen, which says how
  // much there is to hold.
  Ran live(std::unique_ptr<Running> running, bool may_be_killed, int kills) {
    const Time born = now();
    const Time dies = born + 5s + std::chrono::milliseconds(chance_() % 10'000);
    bool is_looked_at = false;
    while (!has_exited(running->pid())) {
      if (!is_looked_at && now() - born >= kLookedAt) {
        look_at(running->pid(), kills);
        is_looked_at = true;
      }
      if (may_be_killed && now() >= dies) {
        busy_ += lasting() > 0 ? 1 : 0;
        running->send(SIGKILL);
        break;
      }
      if (now() - born >= kLongestLife) {
        ADD_FAILURE() << "a tree that nothing was done to has not come to its end";
        running->send(SIGKILL);
        break;
      }
      ::poll(nullptr, 0, 50);
    }
    return running->wait();
  }
  void run_tree(Time until) {
    GoingWrong wrong(kThinking, kLastingSeconds);
    const FaultServer server([&wrong](const std::string& request) { return wrong.answer(request); });
    std::optional<json::object> end;
    bool is_resume = false;
    for (int kills = 0; !end && !HasFailure();) {
      const bool may_be_killed = now() < until && kills < kMostKillsOfATree;
      const Ran ran = live(start_life(server.url(), is_resume), may_be_killed, kills);
      if (ran.status == 128 + SIGKILL) {
        ASSERT_TRUE(may_be_killed) << "it was to come to its end by itself";
        ++kills;
        ++kills_;
        orphans_ += left_behind();
        is_resume = true;
        continue;
      }
      const auto said = parse_json_object(ran.out);
      ASSERT_TRUE(said) << ran.out << ran.err;
      const bool is_nothing_left =
          is_resume && !string_at(*said, "session_id");  // it had ended, or not begun
      end = is_nothing_left ? end_of_newest(server.url()) : std::optional(*said);
      is_resume = false;
    }
    ASSERT_TRUE(end);
    EXPECT_EQ(string_or(*end, "status", ""), "completed") << to_json_text(*end);
    EXPECT_EQ(string_or(*end, "result", ""), kAllIsDone);
    count(string_or(*end, "session_id", ""));
    requests_ += wrong.requests;
    faults_ += wrong.faults;
    ++trees_;
  }
  // Said again, where that tree was not counted yet.
  std::optional<json::object> end_of_newest(const std::string& url) {
    const auto listed = parse_json(deputy({"sessions", "ls", "--output", "json"}).out);
    if (!listed || !listed->is_array() || listed->as_array().empty()) return std::nullopt;
    const auto id = string_or(listed->as_array().front().as_object(), "id", "");
    if (counted_.contains(id)) return std::nullopt;
    const Ran ran = deputy(with_access({"resume", id, "--yes", "--output", "json"}, url));
    const auto said = parse_json_object(ran.out);
    EXPECT_TRUE(said) << ran.out << ran.err;
    return said ? std::optional(*said) : std::nullopt;
  }
  void count(const std::string& id) {
    counted_.insert(id);
    const Tally tally = tally_of(deputy({"sessions", "export", id}).out);
    lost_ += tally.lost;
    duplicated_ += tally.duplicated;
    for (int child = 0; child < kChildren; ++child) {
      const auto out = work() / file_of(child);
      const auto times = contents(out).size();  // none: it was killed before it could begin, and is told so
      const bool is_told = tally.made.contains(file_of(child));
      if (times > 1) ++duplicated_;
      if (times == 0 && is_told) ++lost_;
      if (is_told) ++told_;
      fs::remove(out);
    }
  }
  // Those that the commands of these trees leave behind, whatever they can see of its folders.
  static bool is_lasting(std::string_view command_line, int seconds = kLastingSeconds) {
    using namespace std::string_view_literals;
    return command_line == fmt::format("sleep{0}{1}{0}"sv, '\0', seconds);
  }
  static int lasting(int seconds = kLastingSeconds) {
    int count = 0;
    for (const auto& entry : fs::directory_iterator("/proc"))
      count += is_lasting(contents(entry.path() / "cmdline"), seconds) ? 1 : 0;
    return count;
  }
  // And all that were given something of these trees, or stand in it.
  int processes_of_trees() const {
    int count = 0;
    for (const auto& entry : fs::directory_iterator("/proc")) {
      std::error_code unreadable;
      const std::string stands_in = fs::read_symlink(entry.path() / "cwd", unreadable).string();
      const std::string command_line = contents(entry.path() / "cmdline");
      count += is_lasting(command_line) || stands_in.starts_with(root().string()) ||
               command_line.contains(root().string());
    }
    return count;
  }
  // Where nobody runs them any more: those that are there after two seconds.
  template <class Count>
  static int left_after_a_while(Count count) {
    for (int waited_ms = 0; waited_ms < 2000 && count() > 0; waited_ms += 20) ::poll(nullptr, 0, 20);
    return count();
  }
  int left_behind() const {
    return left_after_a_while([this] { return processes_of_trees(); });
  }

  static void expect_no_growth(const Slope& slope, double most, int minutes, std::string_view of) {
    EXPECT_FALSE(slope.is_above(most)) << of;
    if (minutes < kMinutesThatTell) return;
    EXPECT_TRUE(slope.is_flat(most)) << of << ": " << slope.by_hour << " by the hour, by " << slope.spare
                                     << " looks to spare; noise brings about up to " << slope.margin();
  }
  // The process that lived through it all: looked at between two trees, when what a tree took is given back.
  static void expect_flat(const HostLife& life, int minutes, int faults) {
    std::vector<Look> memory;
    std::vector<Look> descriptors;
    for (const HeldByHost& held : life.held) {
      memory.push_back({held.hours, static_cast<double>(held.bytes) / (1 << 20)});
      descriptors.push_back({held.hours, static_cast<double>(held.descriptors)});
    }
    const Slope of_memory = slope_of(memory);
    const Slope of_descriptors = slope_of(descriptors);
    const int orphans = left_after_a_while([] { return lasting(kLastingSecondsOfHost); });
    fmt::print(
        "figures: one process that ran {} trees meanwhile, {} requests of which went wrong: orphans {}; "
        "looked at {} times: memory {}; descriptors {}\n",
        life.trees, faults, orphans, memory.size(), to_text(of_memory, kMostMegabytes, " MB"),
        to_text(of_descriptors, kMostDescriptors, ""));
    EXPECT_EQ(orphans, 0);
    EXPECT_TRUE(life.ended_in_order);
    EXPECT_EQ(life.incomplete, 0) << "trees that did not come to their end";
    EXPECT_GT(life.trees, 0);
    EXPECT_GT(faults, 0);
    expect_no_growth(of_memory, kMostMegabytes, minutes, "memory of the one process");
    expect_no_growth(of_descriptors, kMostDescriptors, minutes, "descriptors of the one process");
    if (minutes < kMinutesThatTell) return;
    EXPECT_GE(memory.size(), 20u) << "too few trees to tell whether it grows";
    EXPECT_LE(of_memory.by_hour, kMostMegabytes)
        << "in so long noise is no excuse (±" << of_memory.error << ")";
  }

  const Time begun_ = now();
  std::mt19937_64 chance_{1};
  std::set<std::string> counted_;
  int trees_ = 0;
  int kills_ = 0;
  int busy_ = 0;  // kills of a process whose commands had left others behind
  int requests_ = 0;
  int faults_ = 0;
  int lost_ = 0;
  int duplicated_ = 0;
  int told_ = 0;  // commands of which a child was told that they had succeeded
  int orphans_ = 0;
  std::vector<Look> memory_;  // MB
  std::vector<Look> open_files_;
};

TEST_F(Soak, LosesNothingRepeatsNothingAndGrowsNowhere) {
  const int minutes = minutes_to_soak();
  if (minutes == 0) GTEST_SKIP() << "DEPUTY_SOAK_MINUTES says how long: ./test --soak MINUTES";
  const Time until = begun_ + std::chrono::minutes(minutes);
  GoingWrong wrong(kThinkingOfHost, kLastingSecondsOfHost);
  const FaultServer server([&wrong](const std::string& request) { return wrong.answer(request); });
  SoakHost host(server.url(), until);
  while (now() < until && !HasFailure()) run_tree(until);
  orphans_ += left_behind();
  const Slope memory = slope_of(memory_);
  const Slope files = slope_of(open_files_);
  fmt::print(
      "figures: {} minutes, {} trees of {} children, {} kills, {} of them with somebody to leave behind, {} "
      "requests of which {} went wrong: lost {}, duplicated {}, orphans {}; of {} processes "
      "at the age of {} s: memory {}; open files {}\n",
      minutes, trees_, kChildren, kills_, busy_, requests_, faults_, lost_, duplicated_, orphans_,
      memory_.size(), kLookedAt.count() / 1000, to_text(memory, kMostMegabytes, " MB"),
      to_text(files, kMostDescriptors, ""));
  if (!HasFailure()) expect_flat(host.wait(), minutes, wrong.faults);
  EXPECT_EQ(lost_, 0);
  EXPECT_EQ(duplicated_, 0);
  EXPECT_EQ(orphans_, 0);
  EXPECT_GT(trees_, 0);
  EXPECT_GE(kills_, kKillsAMinute * minutes) << "hardly anything was killed";
  EXPECT_GT(busy_, 0) << "there was never anybody who could have been left behind";
  EXPECT_GT(told_, 0) << "no child was told that its command had succeeded: none could have been lost";
  EXPECT_GE(memory_.size(), 3u) << "too few processes to tell whether they grow";
  expect_no_growth(memory, kMostMegabytes, minutes, "memory");
  expect_no_growth(files, kMostDescriptors, minutes, "open files");
}

}  // namespace
}  // namespace deputy
