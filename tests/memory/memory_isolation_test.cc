// Whichever allocation of one child's steps fails: its parent gets one typed report of it, and what its
// siblings report is to the byte what they report where nothing fails. Not tried is what is the whole tree's:
// what the journal needs, and the loop to give a task its turn or to see which timers are due. Without that
// nobody can go on.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <map>

#include "failing_memory.h"
#include "store/memory_store.h"
#include "support/acting_model.h"
#include "support/crashing_store.h"
#include "support/sim_world.h"

namespace deputy {
namespace {

using namespace std::chrono_literals;
using namespace memory;

thread_local bool is_over = false;  // the child that is looked at

Act play(const Scene& scene) {
  if (scene.depth == 0) {
    if (scene.step > 0) return {.text = "over"};
    Act act;
    for (const char* agent : {"explore", "general", "planner", "researcher"})
      act.calls.push_back(call_of("task", fmt::format(R"({{"agent":"{}","prompt":"look"}})", agent)));
    return act;
  }
  const Call read = call_of("Read", R"({"file_path":"a.txt"})");
  if (scene.agent != "general") {
    if (scene.step == 0) return {.calls = {read}, .after = 3s};
    return {.text = scene.agent + " found " + scene.news, .after = 3s};
  }
  if (scene.step > 1) return {.text = "made: " + scene.news};
  const Call note = call_of("Note", fmt::format(R"({{"content":"noted {}"}})", scene.step));
  return {.calls = {read, note, call_of("Bash", R"({"command":"make"})")}, .after = 2s};
}

// What is done for the journal.
class PausingLoop final : public Loop {
 public:
  explicit PausingLoop(Loop& loop) : loop_(loop) {}
  Executor executor() override { return loop_.executor(); }
  const Clock& clock() const override { return loop_.clock(); }
  Timers& timers() override { return loop_.timers(); }
  void post(std::move_only_function<void()> work) override {
    const Pause pause;
    loop_.post([work = std::move(work)]() mutable {
      const Pause within;
      work();
    });
  }

 private:
  Loop& loop_;
};

class PausingStore final : public CrashingStore {
 public:
  PausingStore(Loop& loop, std::shared_ptr<MemoryStore::Memory> memory)
      : PausingStore(std::make_unique<PausingLoop>(loop), std::move(memory)) {}
  Task<Result<void>> record(std::vector<Event> events) override {
    const bool before = std::exchange(is_counting, false);
    auto recorded = co_await CrashingStore::record(std::move(events));
    is_counting = before && !is_over;
    co_return recorded;
  }

 private:
  PausingStore(std::unique_ptr<PausingLoop> loop, std::shared_ptr<MemoryStore::Memory> memory)
      : CrashingStore(std::make_unique<MemoryStore>(*loop, std::move(memory)), {}), loop_(std::move(loop)) {}
  std::unique_ptr<PausingLoop> loop_;
};

// The child is looked at from its first reply on, while it does not wait for the next one: then nobody else
// is about to do anything.
class Watched final : public Provider {
 public:
  Watched(Loop& loop, long failing) : inner_(loop, play), failing_(failing) {}
  std::string_view name() const override { return inner_.name(); }
  std::string encode(const Message& message) const override { return inner_.encode(message); }
  std::int64_t window(const ModelName& model) const override { return inner_.window(model); }
  std::optional<Price> price(const ModelName& model) const override { return inner_.price(model); }
  Task<Reply> ask(Request request, DeltaSink deltas, StopToken stop) override {
    if (request.agent != "general") co_return co_await inner_.ask(std::move(request), deltas, stop);
    if (request.messages.size() == 1) {
      fails_in = failing_;
      counted = 0;
      has_failed = false;
    }
    is_counting = false;
    Reply reply = co_await inner_.ask(std::move(request), std::move(deltas), std::move(stop));
    is_counting = true;
    co_return reply;
  }

 private:
  ActingModel inner_;
  long failing_;
};

struct Outcome {
  // By agent: the children as the parent was told of them, each as often as it was.
  std::map<std::string, std::vector<std::string>> told;
  long allocations = 0;  // of the child's steps
  bool has_failed = false;
  bool is_sound = false;
};

Outcome outcome_where(long failing) {
  SimWorld world;
  world.script = R"({"v":1,"sessions":[{"replies":[{"text":"never asked"}]}]})";
  world.write_file("a.txt", "one\n");
  Life::Options options{.seed = 1};
  is_over = false;
  options.store = [&world](Loop& loop) { return std::make_unique<PausingStore>(loop, world.memory); };
  options.model = [failing](Loop& loop) { return std::make_unique<Watched>(loop, failing); };
  Life life(world, std::move(options));
  life.processes().define("bash", [](const ProcessSpec&) { return ProcessResult{.output = "made\n"}; });
  life.runtime().subscribe([](const Event& event, const EventOrigin& origin) {
    if (origin.agent == "general" && std::holds_alternative<RunEnded>(event.fact)) {
      is_counting = false;
      is_over = true;
    }
  });
  RootBrief root = life.brief("go");
  root.model = ModelName("acting/test");
  root.rules = Rules({{Decision::allow, "task", ""}, {Decision::allow, "Bash", ""}});
  const auto report = life.start(std::move(root));
  is_counting = false;
  Outcome outcome{.allocations = counted,
                  .has_failed = has_failed,
                  .is_sound = report && report->status == Status::completed};
  for (const Event& event : world.memory->journal) {
    const auto* result = std::get_if<CallFinished>(&event.fact);
    if (!result || world.memory->sessions.at(event.run.session).depth > 0) continue;
    const std::string& text = result->result.content;
    const std::size_t at = text.find('(') + 1;
    outcome.told[text.substr(at, text.find(')') - at)].push_back(text);
  }
  for (const Session& session : world.sessions())
    outcome.is_sound = outcome.is_sound && world.terminal_records(session.id) == 1;
  return outcome;
}

void expect_isolation(long stride) {
  outcome_where(0);  // what is made once for all is made here
  Outcome undisturbed = outcome_where(0);
  ASSERT_TRUE(undisturbed.is_sound);
  ASSERT_EQ(undisturbed.told.size(), 4u);
  const auto whole = undisturbed.told.extract("general").mapped();
  ASSERT_EQ(whole.size(), 1u);
  long failures = 0;
  long disturbed = 0;
  for (long failing = 1; failing <= undisturbed.allocations; failing += stride) {
    SCOPED_TRACE(fmt::format("allocation {} of {}", failing, undisturbed.allocations));
    Outcome outcome = outcome_where(failing);
    ASSERT_TRUE(outcome.is_sound);
    const auto told = outcome.told.extract("general").mapped();
    ASSERT_EQ(told.size(), 1u);
    ASSERT_TRUE(told[0].starts_with("## Subagent Result (general)\nStatus: ")) << told[0];
    ASSERT_EQ(outcome.told, undisturbed.told);
    failures += outcome.has_failed ? 1 : 0;
    disturbed += told != whole ? 1 : 0;
  }
  // Some are made up for, as what is only there to be quicker; the loop's are few.
  const long tried = (undisturbed.allocations + stride - 1) / stride;
  EXPECT_GT(failures, tried * 9 / 10);
  EXPECT_GT(disturbed, tried / 2);
  testing::Test::RecordProperty("tried", static_cast<int>(tried));
  testing::Test::RecordProperty("failures", static_cast<int>(failures));
  testing::Test::RecordProperty("disturbed", static_cast<int>(disturbed));
}

TEST(AChildWithoutMemory, ChangesNothingOfItsSiblings) { expect_isolation(41); }
TEST(AChildWithoutMemoryExhaustive, ChangesNothingOfItsSiblingsWhicheverAllocationFails) {
  expect_isolation(1);
}

}  // namespace
}  // namespace deputy
