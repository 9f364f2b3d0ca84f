// What durability costs a step that only reads, by how long the model takes; and how long a large tree takes
// to be resumed. Steps with it and without it are taken by turns, so that both meet the same machine; what a
// sync alone takes is told beside them, so that a slow disk can be told from a slow journal. Prints figures;
// not a test.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "async/sleep.h"
#include "async/task_group.h"
#include "bench.h"
#include "guard/rules.h"
#include "runtime/runtime.h"
#include "store/memory_store.h"
#include "store/sqlite/sqlite_store.h"

namespace deputy {
namespace {

using Seconds = std::chrono::duration<double>;

// Reads a file at every step, and answers only after `first_byte`.
class BenchModel final : public Provider {
 public:
  BenchModel(Loop& loop, Duration first_byte, int steps)
      : loop_(loop), first_byte_(first_byte), steps_(steps) {}
  std::string_view name() const override { return "bench"; }
  std::string encode(const Message&) const override { return {}; }
  std::int64_t window(const ModelName&) const override { return 100'000'000; }
  std::optional<Price> price(const ModelName&) const override { return Price{}; }

  Task<Reply> ask(Request request, DeltaSink, StopToken stop) override {
    if (!first_asked) first_asked = loop_.clock().now();
    co_await sleep_for(loop_, first_byte_, stop);
    Reply reply;
    reply.model = request.prefix->model;
    reply.message.role = Role::assistant;
    if (++asked_ > steps_) {
      reply.message.text = "done";
    } else {
      reply.stop = ReplyStop::calls;
      reply.message.calls.push_back(
          {.id = fmt::format("c{}", asked_), .name = "Read", .arguments = R"({"file_path":"a.txt"})"});
    }
    answered.push_back(loop_.clock().now());
    co_return reply;
  }
  std::optional<TimePoint> first_asked;
  std::vector<TimePoint> answered;

 private:
  Loop& loop_;
  Duration first_byte_;
  int steps_;
  int asked_ = 0;
};

Task<> close(Runtime& runtime, SystemLoop& loop) {
  co_await runtime.close();
  loop.stop();
}

struct World {
  explicit World(std::string path) : folder(std::move(path)) {
    home = *disk.open(folder + "/home", IfAbsent::create);
    (void)(*disk.open(folder + "/work", IfAbsent::create))->replace("a.txt", "hello\n");
  }
  std::string folder;
  SystemLoop loop;
  ThreadPool pool{2};
  SystemDisk disk;
  SimProcesses processes{loop};
  SystemRandom random;
  std::shared_ptr<Folder> home;
};

// Runs one tree to its end; the model tells the times.
template <class Begin>
void run(World& world, std::unique_ptr<Store> store, std::unique_ptr<BenchModel> model, Begin begin) {
  Models models;
  models.add(std::move(model));
  Runtime runtime({.loop = world.loop,
                   .pool = world.pool,
                   .disk = world.disk,
                   .processes = world.processes,
                   .random = world.random,
                   .store = std::move(store),
                   .models = std::move(models)},
                  {.attendance = Attendance::approves_all});
  begin(runtime);
  TaskGroup group(world.loop);
  world.loop.post([&] { group.spawn(close(runtime, world.loop)); });
  world.loop.run();
}

// From one reply to the next: the call, its record, the sync, the model. All steps count alike.
double seconds_a_step(const std::string& folder, bool durable, Duration first_byte, int steps) {
  std::filesystem::remove_all(folder + "/home");
  World world(folder);
  std::unique_ptr<Store> store =
      std::make_unique<MemoryStore>(world.loop, std::make_shared<MemoryStore::Memory>());
  if (durable) store = *SqliteStore::open(world.loop, *world.home, std::make_unique<ThreadWriter>());
  auto model = std::make_unique<BenchModel>(world.loop, first_byte, steps);
  const BenchModel& seen = *model;
  Duration took{};
  run(world, std::move(store), std::move(model), [&](Runtime& runtime) {
    runtime.start({.brief = {.label = "root", .prompt = "go"},
                   .model = ModelName("bench/x"),
                   .workspace = folder + "/work"},
                  [&](const Result<Report>&) {
                    if (!seen.answered.empty()) took = seen.answered.back() - seen.answered.front();
                  });
  });
  return Seconds(took).count() / steps;
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

struct Trial {
  std::chrono::milliseconds first_byte{};
  int rounds = 0;
  int steps = 0;  // of each round, with and without
  double limit_percent = 0;
};

// Whether it keeps to its limit.
bool tell_cost(const std::string& folder, const Trial& trial) {
  constexpr int kSyncsARound = 20;
  std::vector<double> with_it;
  std::vector<double> cost;
  std::vector<double> percent;
  std::vector<Duration> syncs;
  for (int round = 0; round < trial.rounds; ++round) {
    std::array<double, 2> step{};  // without and with
    const bool first = round % 2 != 0;
    for (const bool durable : {first, !first})
      step[durable ? 1 : 0] = seconds_a_step(folder, durable, trial.first_byte, trial.steps);
    std::ranges::copy(syncs_in(folder, kSyncsARound), std::back_inserter(syncs));
    with_it.push_back(step[1]);
    cost.push_back(step[1] - step[0]);
    percent.push_back(cost.back() / step[1] * 100);
  }
  const auto [least, most] = std::ranges::minmax(percent);
  const Percentiles sync = percentiles_of(syncs);
  fmt::print(
      "a step that reads, first byte after {} ms, {} rounds of {} steps with and {} without: {:.3f} ms, of "
      "which {:.3f} ms for durability; {:.2f} % in the median of the rounds (from {:.2f} to {:.2f}; to be at "
      "most {}); a sync alone: p50 {:.3f} ms, p99 {:.3f} ms\n",
      trial.first_byte.count(), trial.rounds, trial.steps, trial.steps, median(with_it) * 1e3,
      median(cost) * 1e3, median(percent), least, most, trial.limit_percent, sync.p50, sync.p99);
  return median(percent) <= trial.limit_percent;
}

constexpr int kSessions = 1000;
constexpr int kEventsEach = 100;

Event event_of(const Session& session, Fact fact, int step = 0) {
  Event event;
  event.tree = session.tree;
  event.run = {session.id, 1};
  event.step = step;
  event.fact = std::move(fact);
  return event;
}

// A root that has not ended, below it sessions that have, each with a conversation.
Task<> fill(SqliteStore& store, SystemLoop& loop, std::string workspace) {
  const SessionId tree("sess_1_root00");
  (void)store.claim(tree);
  for (int i = 0; i < kSessions; ++i) {
    Session session;
    session.id = i == 0 ? tree : SessionId(fmt::format("sess_1_{:06}", i));
    session.uuid = Uuid(fmt::format("00000000-0000-4000-8000-{:012}", i));
    session.tree = tree;
    session.label = i == 0 ? "root" : "child";
    session.agent = i == 0 ? "main" : "reader";
    session.path = {session.agent};
    session.model = ModelName("bench/x");
    session.workspace = workspace;
    session.prompt = "go";
    session.permissions = Rules().to_json();
    if (i > 0) {
      session.parent = tree;
      session.depth = 1;
      session.delegation = DelegationKey{{{tree, 1}, 0, 0}, i};
    }
    std::vector<Event> events{event_of(session, SessionCreated{session}), event_of(session, RunStarted{}),
                              event_of(session, InputGiven{Source::parent, "go"})};
    for (int n = 0; std::ssize(events) < kEventsEach - 1; ++n) {
      Reply reply;
      reply.model = session.model;
      reply.stop = ReplyStop::calls;
      reply.message = {.role = Role::assistant, .text = std::string(200, 'x')};
      reply.message.calls.push_back(
          {.id = fmt::format("c{}", n), .name = "Read", .arguments = R"({"file_path":"a.txt"})"});
      events.push_back(event_of(session, ReplyReceived{reply}, n));
      events.push_back(event_of(session, CallFinished{{.content = fmt::format("{:0200}", n)}}, n));
      events.back().call = 0;
    }
    if (i > 0) events.push_back(event_of(session, RunEnded{}, kEventsEach));
    (void)co_await store.record(std::move(events));
  }
  loop.stop();
}

// Until its model is asked; nothing where it is not.
std::optional<Duration> time_of_resume(const std::string& folder) {
  World world(folder);
  const TimePoint began = world.loop.clock().now();
  auto store = *SqliteStore::open(world.loop, *world.home, std::make_unique<ThreadWriter>());
  auto model = std::make_unique<BenchModel>(world.loop, Duration{}, 0);
  const BenchModel& seen = *model;
  std::optional<Duration> took;
  std::string end;
  run(world, std::move(store), std::move(model), [&](Runtime& runtime) {
    runtime.resume(SessionId("sess_1_root00"), [&](const Result<Report>& report) {
      end = report ? report->body : to_text(report.error());
      if (seen.first_asked) took = *seen.first_asked - began;
    });
  });
  if (!took) fmt::print("the tree was not resumed: {}\n", end);
  return took;
}

// Whether it keeps to its limit. Each resume has a copy of its own: it ends the tree.
bool tell_resume(const std::string& folder) {
  constexpr int kResumes = 5;
  constexpr double kLimit = 1.0;
  const std::string home = folder + "/home";
  const std::string filled = folder + "/filled";
  std::filesystem::remove_all(home);
  {
    World world(folder);
    auto store = *SqliteStore::open(world.loop, *world.home, std::make_unique<ThreadWriter>());
    TaskGroup group(world.loop);
    world.loop.post([&] { group.spawn(fill(*store, world.loop, folder + "/work")); });
    world.loop.run();
  }
  std::filesystem::rename(home, filled);
  std::vector<double> taken;
  for (int i = 0; i < kResumes; ++i) {
    std::filesystem::remove_all(home);
    std::filesystem::copy(filled, home, std::filesystem::copy_options::recursive);
    const auto took = time_of_resume(folder);
    if (!took) return false;
    taken.push_back(Seconds(*took).count());
  }
  const auto [least, most] = std::ranges::minmax(taken);
  fmt::print(
      "a tree of {} sessions and {} events is resumed, {} times: {:.0f} ms in the median until its model is "
      "asked (from {:.0f} to {:.0f}; to be under {:.0f})\n",
      kSessions, kSessions * kEventsEach, kResumes, median(taken) * 1e3, least * 1e3, most * 1e3,
      kLimit * 1e3);
  return median(taken) < kLimit;
}

}  // namespace

int run_bench(const std::string& folder) {
  using std::chrono::milliseconds;
  const bool is_cheap =
      tell_cost(folder, {.first_byte = milliseconds(20), .rounds = 15, .steps = 40, .limit_percent = 6});
  const bool is_nothing =
      tell_cost(folder, {.first_byte = milliseconds(500), .rounds = 9, .steps = 6, .limit_percent = 0.5});
  const bool is_soon = tell_resume(folder);
  return is_cheap && is_nothing && is_soon ? 0 : 1;
}

}  // namespace deputy
