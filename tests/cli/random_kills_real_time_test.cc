// A thousand kill -9 of the program at random moments, several at a time, each followed by a resume that may
// be killed too: nothing is lost, and no effect is made twice. The effects are files that commands write.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <poll.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <random>

#include "base/json.h"
#include "deputy_program.h"

namespace deputy {
namespace {

namespace fs = std::filesystem;

constexpr int kKills = 1000;
constexpr int kAtATime = 4;
constexpr int kMostDelayMs = 600;  // few come to their end before it
constexpr std::array kEffects{"first", "of_child", "last"};

constexpr std::string_view kScript = R"({"v":1,"log":"CALLS","sessions":[
  {"match":{"agent":"main"},"replies":[
    {"calls":[{"name":"Bash","arguments":{"command":"printf x >> first"}}]},
    {"calls":[{"name":"Delegate","arguments":{"tasks":[{"label":"a","prompt":"p"},{"label":"b","prompt":"p"}]}},
              {"name":"task","arguments":{"agent":"general","prompt":"p"}}]},
    {"calls":[{"name":"Bash","arguments":{"command":"printf x >> last"}}]},
    {"text":"all is done"}]},
  {"match":{"agent":"reader"},"replies":[
    {"calls":[{"name":"List","arguments":{}},{"name":"Note","arguments":{"content":"a note"}}]},{"text":"read"}]},
  {"match":{"agent":"general"},"replies":[
    {"calls":[{"name":"Bash","arguments":{"command":"printf x >> of_child"}}]},{"text":"made"}]}]})";
constexpr std::string_view kUnknown = "outcome unknown";
constexpr std::string_view kNotRun = "it was not run";
constexpr std::string_view kHadEnded = "by then the command had ended";
constexpr std::string_view kSucceeded = "succeeded";
constexpr int kCallsUndisturbed = 4 + 2 * 2 + 2;
constexpr int kSessionsAtOnce = 4;

class RandomKillsRealTime : public DeputyTest {
 protected:
  // One tree with a state folder and a workspace of its own.
  struct Tree {
    fs::path folder;
    std::unique_ptr<Running> running;
    int kills = 0;
    bool has_begun = false;  // something of it was kept
    std::chrono::steady_clock::time_point killed_at = {};
  };

  void begin(Tree& tree, int number) {
    tree = {};
    tree.folder = root() / fmt::format("tree{}", number);
    fs::create_directories(tree.folder / "work");
    std::string script(kScript);
    script.replace(script.find("CALLS"), 5, (tree.folder / "calls").string());
    write(tree.folder / "script.json", script);
  }
  std::vector<std::string> words(const Tree& tree, std::vector<std::string> words) const {
    words.insert(words.end(), {"--output", "json", "--home", (tree.folder / "home").string()});
    return words;
  }
  void go(Tree& tree) {
    const auto model = "scripted/" + (tree.folder / "script.json").string();
    tree.running = tree.has_begun ? start(words(tree, {"resume", "--yes"}))
                                  : start(words(tree, {"run", "--yes", "--model", model, "--cwd",
                                                       (tree.folder / "work").string(), "go"}));
    tree.killed_at = std::chrono::steady_clock::now() + std::chrono::milliseconds(chance_() % kMostDelayMs);
  }
  // What it ended with, as it said itself, or as it says again where it was killed after its end; empty where
  // nothing was kept yet.
  json::object end_of(const Tree& tree, const Ran& ran) {
    const auto said = parse_json_object(ran.out);
    if (said && string_at(*said, "session_id")) return *said;
    const auto listed = parse_json(deputy(words(tree, {"sessions", "ls"})).out);
    if (!listed || listed->as_array().empty()) return {};
    const auto id = string_or(listed->as_array().front().as_object(), "id", "");
    return parse_json_object(deputy(words(tree, {"resume", id, "--yes"})).out).value_or(json::object{});
  }
  bool has_ended(Tree& tree) {
    const auto ran = tree.running->wait();
    if (ran.status == 128 + SIGKILL) {
      ++tree.kills;
      ++kills_;
      // Where nothing was kept yet, or it had just ended, the resume will say so.
      tree.has_begun = true;
      return false;
    }
    const auto end = end_of(tree, ran);
    tree.has_begun = !end.empty();
    if (end.empty()) return false;
    EXPECT_EQ(string_or(end, "status", ""), "completed") << ran.err;
    expect_whole(tree, string_or(end, "session_id", ""));
    return true;
  }
  // What the models were told of the commands that make the effects.
  static std::map<std::string, std::string> told_of_effects(const Tree& tree) {
    std::map<std::string, std::string> told;
    for (const auto& name : files_below(tree.folder / "home/subagent")) {
      if (!name.ends_with(".transcript.json")) continue;
      const auto transcript = parse_json_object(contents(tree.folder / "home/subagent" / name));
      EXPECT_TRUE(transcript) << name;
      std::string made;
      for (const auto& message : transcript ? transcript->at("messages").as_array() : json::array{}) {
        const auto* calls = array_at(message.as_object(), "tool_calls");
        const std::string command = calls ? string_or(calls->front().as_object(), "arguments", "") : "";
        for (const char* effect : kEffects) made = command.contains(effect) ? effect : made;
        if (string_or(message.as_object(), "role", "") != "tool" || made.empty()) continue;
        told[made] = string_or(message.as_object(), "content", "");
        made.clear();
      }
    }
    return told;
  }
  void expect_whole(const Tree& tree, const std::string& id) {
    const auto exported = deputy(words(tree, {"sessions", "export", id})).out;
    EXPECT_TRUE(exported.contains("all is done")) << exported;
    std::size_t taken = 0;
    for (std::size_t at = 0; (at = exported.find("\"event\":\"note\"", at)) != std::string::npos; ++at)
      ++taken;
    EXPECT_EQ(taken, 2u) << "after " << tree.kills << " kills: " << exported;
    const auto told = told_of_effects(tree);
    for (const char* effect : kEffects) {
      const auto size = contents(tree.folder / "work" / effect).size();
      EXPECT_LE(size, 1u) << effect << " was made " << size << " times, after " << tree.kills << " kills";
      if (size == 1) ++effects_;
      const auto said = told.find(effect);
      ASSERT_TRUE(said != told.end()) << effect << ", after " << tree.kills << " kills: " << exported;
      std::string_view kind = kSucceeded;
      for (const auto other : {kUnknown, kNotRun, kHadEnded})
        if (said->second.contains(other)) kind = other;
      ++told_[kind];
      const bool is_true = kind == kUnknown || (size == 0) == (kind == kNotRun);
      EXPECT_TRUE(is_true) << effect << " was made " << size
                           << " times; its model was told: " << said->second;
    }
    const auto calls = std::ranges::count(contents(tree.folder / "calls"), '\n');
    EXPECT_LE(calls, kCallsUndisturbed + tree.kills * kSessionsAtOnce);
    calls_ += static_cast<int>(calls);
    ++trees_;
    fs::remove_all(tree.folder);
  }

  static void wait_until(std::chrono::steady_clock::time_point time) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(time - std::chrono::steady_clock::now());
    if (left.count() > 0) ::poll(nullptr, 0, static_cast<int>(left.count()));
  }

  // Processes that were given something of these trees.
  int processes_left() const {
    int count = 0;
    for (const auto& entry : fs::directory_iterator("/proc"))
      count += contents(entry.path() / "cmdline").contains(root().string());
    return count;
  }

  std::mt19937_64 chance_{1};
  int kills_ = 0;
  int trees_ = 0;
  int effects_ = 0;
  int calls_ = 0;
  std::map<std::string_view, int> told_;
};

TEST_F(RandomKillsRealTime, AThousandLoseNothingAndRepeatNothing) {
  int number = 0;
  std::vector<Tree> trees(kAtATime);
  for (Tree& tree : trees) begin(tree, number++);
  for (Tree& tree : trees) go(tree);
  // Each goes on as soon as it was killed: none waits for the others.
  while (kills_ < kKills && !HasFailure()) {
    Tree& next = *std::ranges::min_element(trees, {}, &Tree::killed_at);
    wait_until(next.killed_at);
    next.running->send(SIGKILL);
    if (has_ended(next)) begin(next, number++);
    go(next);
  }
  for (Tree& tree : trees) {
    if (HasFailure() || has_ended(tree)) continue;
    go(tree);  // nothing was kept of it: it begins anew
    EXPECT_TRUE(has_ended(tree)) << tree.folder << " was killed " << tree.kills << " times";
  }
  EXPECT_GT(trees_, kKills / 10) << "too few came to their end, and only then are they looked at";
  trees.clear();
  for (int waited_ms = 0; waited_ms < 2000 && processes_left() > 0; waited_ms += 20) ::poll(nullptr, 0, 20);
  EXPECT_EQ(processes_left(), 0);
  fmt::print(
      "figures: {} kills of {} trees that ended whole; {} effects, none twice; told: {} done, {} unknown, "
      "{} not run, {} known by their end record; {} model calls where {} were needed\n",
      kills_, trees_, effects_, told_[kSucceeded], told_[kUnknown], told_[kNotRun], told_[kHadEnded], calls_,
      trees_ * kCallsUndisturbed);
}

}  // namespace
}  // namespace deputy
