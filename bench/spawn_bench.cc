// How long it takes from a parent's call to its child's request being handed to the HTTP client, with 64
// siblings alive: the call's intent and the child's own record are synced to a real disk on the way, as one
// unit, and the request is written in a real provider's dialect. Prints the percentiles, and what a sync
// alone takes here at the time, since that is much of it; then the same under --max-cost, where what the
// request may come to is a record of its own. Not a test.
#include <fmt/format.h>

#include <vector>

#include "async/sleep.h"
#include "async/task_group.h"
#include "bench.h"
#include "played_provider.h"
#include "runtime/runtime.h"
#include "store/sqlite/sqlite_store.h"

namespace deputy {
namespace {

constexpr int kSiblings = 64;
constexpr int kSpawns = 200;

std::string said_by(std::string_view agent) { return fmt::format("You are the {} of the bench.", agent); }

// The HTTP client, played: the moment a request comes in is what is measured. A holder is never answered, the
// spawner calls for one leaf a step, and a leaf is answered at once.
class BenchNetwork final : public Network {
 public:
  explicit BenchNetwork(Loop& loop) : loop_(loop) {}

  Task<Result<HttpEnd>> exchange(HttpRequest request, HttpSink sink, StopToken stop) override {
    const TimePoint handed_over = loop_.clock().now();
    const auto is_of = [&request](std::string_view agent) { return request.body.contains(said_by(agent)); };
    Said said;
    if (is_of("leaf")) {
      taken.push_back(handed_over - called_);
      said.text = "done";
    } else if (is_of("holder")) {
      holding_ += 1;
      sink.start({.status = 200, .headers = {}});
      co_await sleep_for(loop_, std::chrono::hours(1), stop);
      co_return std::unexpected(Error::cancelled());
    } else if (is_of("spawner")) {
      while (holding_ < kSiblings && !stop.stopped())
        co_await sleep_for(loop_, std::chrono::milliseconds(1), stop);
      if (taken.size() == kSpawns) done();
      call(said, "leaf", 1);
    } else {
      call(said, "holder", kSiblings);
      call(said, "spawner", 1);
    }
    const SimExchange answer = answer_in(Tongue::anthropic, said);
    sink.start({answer.status, answer.headers});
    for (const SimChunk& chunk : answer.chunks) sink.bytes(chunk.bytes);
    called_ = loop_.clock().now();
    co_return HttpEnd{.status = answer.status, .headers = answer.headers};
  }

  std::vector<Duration> taken;
  std::function<void()> done;

 private:
  static void call(Said& said, std::string_view agent, int times) {
    for (int i = 0; i < times; ++i) {
      said.calls.push_back({.id = fmt::format("{}{}", agent, i),
                            .name = "task",
                            .arguments = fmt::format(R"({{"agent":"{}","prompt":"p"}})", agent)});
    }
  }

  Loop& loop_;
  TimePoint called_{};
  int holding_ = 0;
};

Profile profile(const std::string& name, std::vector<std::string> subagents) {
  return {.name = name,
          .instructions = said_by(name),
          .tools = {"Read"},
          .subagents = std::move(subagents),
          .workspace = WorkspaceMode::read_only};
}

Task<> wait_for_end(Runtime& runtime, SystemLoop& loop) {
  try {
    co_await runtime.close();
  } catch (const std::exception& bug) {
    fmt::print("{}\n", bug.what());
  }
  loop.stop();
}

int measure_spawns(const std::string& folder, std::string_view terms, std::int64_t most_micros) {
  SystemLoop loop;
  ThreadPool pool(2);
  SystemDisk disk;
  SimProcesses processes(loop);
  SystemRandom random;
  auto home = disk.open(fmt::format("{}/{}", folder, most_micros), IfAbsent::create);
  if (!home) return 1;
  auto store = SqliteStore::open(loop, **home, std::make_unique<ThreadWriter>());
  if (!store) return 1;
  BenchNetwork network(loop);
  Governors governors(loop);
  Models models;
  models.add(std::make_unique<HttpProvider>(played_provider(network, loop, random, governors)));
  Profiles profiles = Profiles::built_in();
  for (auto& each : {profile("holder", {}), profile("leaf", {}), profile("spawner", {"leaf"})})
    profiles.add(each);
  Runtime runtime({.loop = loop,
                   .pool = pool,
                   .disk = disk,
                   .processes = processes,
                   .random = random,
                   .store = *std::move(store),
                   .models = std::move(models),
                   .profiles = std::move(profiles)},
                  {.limits = {.delegations = kUnlimited<int>,
                              .live_children = kUnlimited<int>,
                              .live_sessions = kUnlimited<int>,
                              .cost_micros = most_micros},
                   .attendance = Attendance::approves_all});
  network.done = [&runtime] { runtime.cancel(StopReason::user); };
  TaskGroup group(loop);
  runtime.start({.brief = {.label = "root", .prompt = "go"},
                 .model = ModelName("anthropic/bench"),
                 .workspace = folder,
                 .rules = Rules({{Decision::allow, "task", ""}})},
                [](const Result<Report>&) {});
  loop.post([&] { group.spawn(wait_for_end(runtime, loop)); });
  loop.run();
  const auto syncs = syncs_in(folder, kSpawns);
  if (network.taken.empty() || syncs.empty()) return 1;
  const Percentiles spawn = percentiles_of(network.taken);
  const Percentiles sync = percentiles_of(syncs);
  fmt::print(
      "from the call to the child's request{}, {} siblings alive, {} spawns: p50 {:.2f} ms, p99 {:.2f} ms; "
      "a sync alone: p50 {:.2f} ms, p99 {:.2f} ms\n",
      terms, kSiblings, network.taken.size(), spawn.p50, spawn.p99, sync.p50, sync.p99);
  return 0;
}

}  // namespace

int run_bench(const std::string& folder) {
  const int status = measure_spawns(folder, "", kUnlimited<std::int64_t>);
  return status != 0 ? status : measure_spawns(folder, " under --max-cost", 1'000'000'000);
}

}  // namespace deputy
