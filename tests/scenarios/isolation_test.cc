// One child breaks, in every way there is; its parent gets one typed report of it, and what its siblings
// report is to the byte what they report where nothing breaks.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <array>
#include <new>
#include <stdexcept>

#include "support/acting_model.h"
#include "support/sim_world.h"

namespace deputy {
namespace {

using ::testing::HasSubstr;
using namespace std::chrono_literals;

enum class Breaks {
  never,
  throws,
  runs_out_of_memory,
  tool_crashes,
  tool_is_not_there,
  tool_throws,
  workspace_throws,
  journal_is_not_read
};
enum class Where { awaited, beside };

constexpr auto kBroken = "worker";
constexpr std::array kAgents{"explore", kBroken, "planner", "researcher"};
constexpr auto kBeside = R"(,"run_in_background":true)";

// By agent: the children as the parent was told of them, each as often as it was.
using Told = std::map<std::string, std::vector<std::string>>;

Act play(const Scene& scene, Breaks how, Where where) {
  if (scene.depth == 0) {
    if (scene.step > 0)
      return {.text = scene.times_heard("## Subagent Result") < kAgents.size() ? "I wait." : "over"};
    Act act;
    for (const char* agent : kAgents)
      act.calls.push_back(call_of("task", fmt::format(R"({{"agent":"{}","prompt":"look"{}}})", agent,
                                                      where == Where::beside ? kBeside : "")));
    return act;
  }
  if (scene.agent != kBroken) {
    if (scene.step == 0) return {.calls = {call_of("Read", R"({"file_path":"a.txt"})")}, .after = 3s};
    return {.text = scene.agent + " found " + scene.news, .after = 3s};
  }
  if (scene.step == 0) return {.calls = {call_of("Bash", R"({"command":"make"})")}, .after = 4s};
  if (how == Breaks::throws)
    return {.throws = std::make_exception_ptr(std::runtime_error("the play says so"))};
  if (how == Breaks::runs_out_of_memory) return {.throws = std::make_exception_ptr(std::bad_alloc())};
  return {.text = "made: " + scene.news};
}

// Cannot read the journal of the one that breaks when its run begins.
class UnreadableStore final : public CrashingStore {
 public:
  UnreadableStore(Loop& loop, const std::shared_ptr<MemoryStore::Memory>& memory)
      : CrashingStore(std::make_unique<MemoryStore>(loop, memory), {}), memory_(memory) {}
  Result<std::vector<Event>> events_of_session(const SessionId& id) const override {
    const auto found = memory_->sessions.find(id);
    const bool is_it = found != memory_->sessions.end() && found->second.agent == kBroken;
    if (is_it && !std::exchange(has_failed_, true)) return fail(ErrorCode::io, "the disk says so");
    return CrashingStore::events_of_session(id);
  }

 private:
  std::shared_ptr<MemoryStore::Memory> memory_;
  mutable bool has_failed_ = false;
};

Told told_where(Breaks how, Where where, std::uint64_t seed) {
  SimWorld world;
  world.script = R"({"v":1,"sessions":[{"replies":[{"text":"never asked"}]}]})";
  world.write_file("a.txt", "one\n");
  Life::Options options{.seed = seed};
  options.model = [how, where](Loop& loop) {
    return std::make_unique<ActingModel>(
        loop, [how, where](const Scene& scene) { return play(scene, how, where); });
  };
  options.profiles = {
      {.name = kBroken,
       .tools = {"Bash"},
       .workspace = how == Breaks::workspace_throws ? WorkspaceMode::worktree : WorkspaceMode::shared}};
  if (how == Breaks::journal_is_not_read)
    options.store = [&world](Loop& loop) { return std::make_unique<UnreadableStore>(loop, world.memory); };
  Life life(world, std::move(options));
  if (how != Breaks::tool_is_not_there) {
    life.processes().define("bash", [how](const ProcessSpec&) {
      if (how == Breaks::tool_throws) throw std::runtime_error("the program says so");
      return ProcessResult{.exit_status = how == Breaks::tool_crashes ? 128 + 11 : 0};
    });
  }
  const auto git = [](const ProcessSpec&) -> ProcessResult { throw std::runtime_error("git says so"); };
  life.processes().define("git", git, 1s);
  RootBrief root = life.brief("go");
  root.model = ModelName("acting/test");
  root.rules = Rules({{Decision::allow, "task", ""}, {Decision::allow, "Bash", ""}});
  const auto report = life.start(std::move(root));
  EXPECT_TRUE(report && report->status == Status::completed);
  Told told;
  const auto take = [&told](const std::string& text) {
    constexpr std::string_view kHeading = "## Subagent Result (";
    const std::size_t at = text.find(kHeading);
    if (at == std::string::npos) return;
    const std::string from_agent = text.substr(at + kHeading.size());
    told[from_agent.substr(0, from_agent.find(')'))].push_back(text);
  };
  for (const Event& event : world.memory->journal) {
    if (world.memory->sessions.at(event.run.session).depth > 0) continue;
    if (const auto* result = std::get_if<CallFinished>(&event.fact)) take(result->result.content);
    if (const auto* mail = std::get_if<Delivered>(&event.fact)) take(mail->text);
  }
  for (const Session& session : world.sessions())
    EXPECT_EQ(world.terminal_records(session.id), 1) << session.label;
  return told;
}

class IsolationSimulation : public testing::TestWithParam<std::tuple<std::pair<Breaks, const char*>, Where>> {
};

TEST_P(IsolationSimulation, AChildThatBreaksIsOneTypedReportAndChangesNoneOfItsSiblings) {
  const auto& [how, says] = std::get<0>(GetParam());
  const Where where = std::get<1>(GetParam());
  for (std::uint64_t seed = 1; seed <= simulation_seeds(50); ++seed) {
    Told undisturbed = told_where(Breaks::never, where, seed);
    Told told = told_where(how, where, seed);
    ASSERT_EQ(undisturbed.size(), 4u) << "seed " << seed;
    ASSERT_EQ(told[kBroken].size(), 1u) << "seed " << seed;
    ASSERT_THAT(told[kBroken][0], HasSubstr(says)) << "seed " << seed;
    ASSERT_NE(told[kBroken], undisturbed[kBroken]) << "else nothing broke";
    told.erase(kBroken);
    undisturbed.erase(kBroken);
    ASSERT_EQ(told, undisturbed) << "seed " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Of, IsolationSimulation,
    testing::Combine(testing::Values(std::pair(Breaks::throws, "a bug in deputy: the play says so"),
                                     std::pair(Breaks::runs_out_of_memory, "out of memory"),
                                     std::pair(Breaks::tool_crashes, "139"),
                                     std::pair(Breaks::tool_is_not_there, "Status: "),
                                     std::pair(Breaks::tool_throws, "the program says so"),
                                     std::pair(Breaks::workspace_throws, "a bug in deputy: git says so")),
                     testing::Values(Where::awaited, Where::beside)));

// The journal of one that is awaited is read by nobody before it ends.
INSTANTIATE_TEST_SUITE_P(
    OfOneBeside, IsolationSimulation,
    testing::Values(std::tuple(std::pair(Breaks::journal_is_not_read, "the disk says so"), Where::beside)));

}  // namespace
}  // namespace deputy
