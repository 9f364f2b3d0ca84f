// A thousand kill -9 of the program at random moments, several at a time, each followed by a resume that may
// be killed too: nothing is lost, and no effect is made twice. The effects are files that commands write.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <poll.h>
#include <signal.h>

#include <random>

#include "base/json.h"
#include "deputy_program.h"

namespace deputy {
namespace {

namespace fs = std::filesystem;

constexpr int kKills = 1000;
constexpr int kAtATime = 4;
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
    int delay_ms = 0;
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
    words.insert(words.end(), {"--home", (tree.folder / "home").string()});
    return words;
  }
  void go(Tree& tree) {
    const auto model = "scripted/" + (tree.folder / "script.json").string();
    tree.running = tree.has_begun ? start(words(tree, {"resume", "--yes"}))
                                  : start(words(tree, {"run", "--yes", "--model", model, "--cwd",
                                                       (tree.folder / "work").string(), "go"}));
    tree.delay_ms = static_cast<int>(chance_() % 700);
  }
  // The state of its root; empty where nothing was kept yet.
  std::string state_of(const Tree& tree, std::string& id) {
    const auto listed = parse_json(deputy(words(tree, {"sessions", "ls", "--output", "json"})).out);
    if (!listed || listed->as_array().empty()) return "";
    id = string_or(listed->as_array().front().as_object(), "id", "");
    return string_or(listed->as_array().front().as_object(), "state", "");
  }
  // Whether the tree has ended.
  bool kill_one(Tree& tree) {
    tree.running->send(SIGKILL);
    const auto ran = tree.running->wait();
    if (ran.status == 128 + SIGKILL) {
      ++tree.kills;
      ++kills_;
      // Where nothing was kept yet, or it had just ended, the resume will say so.
      tree.has_begun = true;
      return false;
    }
    std::string id;
    const std::string state = state_of(tree, id);
    tree.has_begun = !state.empty();
    if (state.empty()) return false;
    EXPECT_EQ(state, "completed") << ran.err;
    expect_whole(tree, id);
    return true;
  }
  void expect_whole(const Tree& tree, const std::string& id) {
    const auto exported = deputy(words(tree, {"sessions", "export", id})).out;
    EXPECT_TRUE(exported.contains("all is done")) << exported;
    const auto notes = deputy(words(tree, {"sessions", "notes", id})).out;
    std::size_t taken = 0;
    for (std::size_t at = 0; (at = notes.find("a note", at)) != std::string::npos; ++at) ++taken;
    EXPECT_EQ(taken, 2u) << "after " << tree.kills << " kills: " << notes;
    std::size_t known = 0;  // effects that are there, or of which a model was told that they may not be
    for (const char* effect : kEffects) {
      const auto size = contents(tree.folder / "work" / effect).size();
      EXPECT_LE(size, 1u) << effect << " was made " << size << " times, after " << tree.kills << " kills";
      if (size == 1) ++effects_, ++known;
    }
    std::string transcripts;
    for (const auto& name : files_below(tree.folder / "home/subagent")) {
      if (name.ends_with(".transcript.json")) transcripts += contents(tree.folder / "home/subagent" / name);
    }
    for (const char* word : {"outcome unknown", "it was not run", "by then the command had ended"}) {
      for (std::size_t at = 0; (at = transcripts.find(word, at)) != std::string::npos; ++at)
        ++told_[word], ++known;
    }
    EXPECT_GE(known, kEffects.size()) << "an effect is missing, and no model was told: " << transcripts;
    const auto calls = std::ranges::count(contents(tree.folder / "calls"), '\n');
    EXPECT_LE(calls, kCallsUndisturbed + tree.kills * kSessionsAtOnce);
    calls_ += static_cast<int>(calls);
    ++trees_;
    fs::remove_all(tree.folder);
  }

  std::mt19937_64 chance_{1};
  int kills_ = 0;
  int trees_ = 0;
  int effects_ = 0;
  int calls_ = 0;
  std::map<std::string, int> told_;
};

TEST_F(RandomKillsRealTime, AThousandLoseNothingAndRepeatNothing) {
  int number = 0;
  std::vector<Tree> trees(kAtATime);
  for (Tree& tree : trees) begin(tree, number++);
  while (kills_ < kKills && !HasFailure()) {
    for (Tree& tree : trees) go(tree);
    std::ranges::sort(trees, {}, &Tree::delay_ms);
    for (int waited = 0; Tree & tree : trees) {
      ::poll(nullptr, 0, tree.delay_ms - waited);
      waited = tree.delay_ms;
      if (kill_one(tree)) begin(tree, number++);
    }
  }
  fmt::print(
      "figures: {} kills of {} trees that ended whole; {} effects, none twice; told: {} unknown, {} not run, "
      "{} known by "
      "their end record; {} model calls where {} were needed\n",
      kills_, trees_, effects_, told_["outcome unknown"], told_["it was not run"],
      told_["by then the command had ended"], calls_, trees_ * kCallsUndisturbed);
}

}  // namespace
}  // namespace deputy
