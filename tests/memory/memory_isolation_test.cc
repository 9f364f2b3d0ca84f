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

// Whether its parent waits for the child in a call, or is told of it by mail.
enum class Comes { as_result, by_mail };

Act play(const Scene& scene, Comes comes) {
  if (scene.depth == 0) {
    if (scene.step > 0) return {.text = "over"};
    Act act;
    for (const std::string_view agent : {"explore", "general", "planner", "researcher"}) {
      const bool is_beside = agent == "general" && comes == Comes::by_mail;
      act.calls.push_back(call_of("task", fmt::format(R"({{"agent":"{}","prompt":"look"{}}})", agent,
                                                      is_beside ? R"(,"run_in_background":true)" : "")));
    }
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

// A store looks at the clock until it is gone.
struct HasPausingLoop {
  PausingLoop loop;
};

class PausingStore final : HasPausingLoop, public CrashingStore {
 public:
  PausingStore(Loop& inner, std::shared_ptr<MemoryStore::Memory> memory)
      : HasPausingLoop{PausingLoop(inner)},
        CrashingStore(std::make_unique<MemoryStore>(loop, std::move(memory)), {}) {}
  Task<Result<void>> record(std::vector<Event> events) override {
    const bool before = std::exchange(is_counting, false);
    auto recorded = co_await CrashingStore::record(std::move(events));
    is_counting = before && !is_over;
    co_return recorded;
  }
};

// The child is looked at from its first reply on, while it does not wait for the next one: then nobody else
// is about to do anything.
class Watched final : public Provider {
 public:
  Watched(Loop& loop, Comes comes, long failing)
      : inner_(loop, [comes](const Scene& scene) { return play(scene, comes); }), failing_(failing) {}
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

constexpr std::string_view kHeading = "## Subagent Result (";

struct Outcome {
  // By agent: the children as the parent was told of them, each as often as it was.
  std::map<std::string, std::vector<std::string>> told;
  long allocations = 0;  // of the child's steps
  bool has_failed = false;
  bool is_sound = false;
};

// What the event tells the parent of a child's end.
std::string told_by(const Event& event) {
  if (const auto* mail = std::get_if<Delivered>(&event.fact)) {
    const std::size_t heading = mail->text.find(kHeading);
    return heading == std::string::npos ? "" : mail->text.substr(heading);
  }
  const auto* result = std::get_if<CallFinished>(&event.fact);
  return result && result->result.content.starts_with(kHeading) ? result->result.content : "";
}

Outcome outcome_where(Comes comes, long failing) {
  SimWorld world;
  world.script = R"({"v":1,"sessions":[{"replies":[{"text":"never asked"}]}]})";
  world.write_file("a.txt", "one\n");
  Life::Options options{.seed = 1};
  is_over = false;
  options.store = [&world](Loop& loop) { return std::make_unique<PausingStore>(loop, world.memory); };
  options.model = [comes, failing](Loop& loop) { return std::make_unique<Watched>(loop, comes, failing); };
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
    const std::string text = told_by(event);
    if (text.empty() || world.memory->sessions.at(event.run.session).depth > 0) continue;
    const std::size_t at = kHeading.size();
    outcome.told[text.substr(at, text.find(')') - at)].push_back(text);
  }
  for (const Session& session : world.sessions())
    outcome.is_sound = outcome.is_sound && world.terminal_records(session.id) == 1;
  return outcome;
}

void expect_isolation(Comes comes, long stride) {
  outcome_where(comes, 0);  // what is made once for all is made here
  Outcome undisturbed = outcome_where(comes, 0);
  ASSERT_TRUE(undisturbed.is_sound);
  ASSERT_EQ(undisturbed.told.size(), 4u);
  const auto whole = undisturbed.told.extract("general").mapped();
  ASSERT_EQ(whole.size(), 1u);
  long failures = 0;
  long disturbed = 0;
  for (long failing = 1; failing <= undisturbed.allocations; failing += stride) {
    SCOPED_TRACE(fmt::format("allocation {} of {}", failing, undisturbed.allocations));
    Outcome outcome = outcome_where(comes, failing);
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

TEST(AChildWithoutMemory, ChangesNothingOfItsSiblings) { expect_isolation(Comes::as_result, 41); }
TEST(AChildWithoutMemory, IsToldOfByMailWhereItGoesOnBeside) { expect_isolation(Comes::by_mail, 41); }
TEST(AChildWithoutMemoryExhaustive, ChangesNothingOfItsSiblingsWhicheverAllocationFails) {
  expect_isolation(Comes::as_result, 1);
}
TEST(AChildWithoutMemoryExhaustive, IsToldOfByMailWhicheverAllocationFails) {
  expect_isolation(Comes::by_mail, 1);
}

}  // namespace
}  // namespace deputy
