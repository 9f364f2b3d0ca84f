// How long it takes from a parent's call to its child's request, with 64 siblings alive: the call's intent
// and the child's own record are synced to a real disk on the way, as one unit. Prints the percentiles, and
// what a sync alone takes here at the time, since that is most of it; not a test.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "async/sleep.h"
#include "async/task_group.h"
#include "runtime/runtime.h"
#include "store/sqlite/sqlite_store.h"

namespace deputy {
namespace {

constexpr int kSiblings = 64;
constexpr int kSpawns = 200;

// Each "holder" waits, the "spawner" makes one child a step, and each "leaf" answers at once.
class BenchModel final : public Provider {
 public:
  explicit BenchModel(Loop& loop) : loop_(loop) {}
  std::string_view name() const override { return "bench"; }
  std::string encode(const Message&) const override { return {}; }
  std::int64_t window(const ModelName&) const override { return 1'000'000; }
  std::optional<Price> price(const ModelName&) const override { return Price{}; }

  Task<Reply> ask(Request request, DeltaSink, StopToken stop) override {
    Reply reply;
    reply.model = request.prefix->model;
    reply.message.role = Role::assistant;
    if (request.agent == "leaf") {
      taken.push_back(loop_.clock().now() - called_);
    } else if (request.agent == "holder") {
      holding_ += 1;
      co_await sleep_for(loop_, std::chrono::hours(1), stop);
      reply.stop = ReplyStop::stopped;
      co_return reply;
    } else if (request.agent == "spawner") {
      while (holding_ < kSiblings) co_await sleep_for(loop_, std::chrono::milliseconds(1), stop);
      if (taken.size() == kSpawns) done();
      call(reply, "leaf", 1);
    } else {
      call(reply, "holder", kSiblings);
      call(reply, "spawner", 1);
    }
    if (reply.message.calls.empty()) reply.message.text = "done";
    called_ = loop_.clock().now();
    co_return reply;
  }

  std::vector<Duration> taken;
  std::function<void()> done;

 private:
  static void call(Reply& reply, std::string_view agent, int times) {
    reply.stop = ReplyStop::calls;
    for (int i = 0; i < times; ++i) {
      reply.message.calls.push_back({.id = fmt::format("{}{}", agent, i),
                                     .name = "task",
                                     .arguments = fmt::format(R"({{"agent":"{}","prompt":"p"}})", agent)});
    }
  }

  Loop& loop_;
  TimePoint called_{};
  int holding_ = 0;
};

Profile profile(std::string name, std::vector<std::string> subagents) {
  return {.name = std::move(name),
          .instructions = "work",
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

struct Percentiles {
  double p50 = 0;
  double p99 = 0;
};
Percentiles percentiles_of(std::vector<Duration> taken) {
  std::ranges::sort(taken);
  const auto at = [&](double part) {
    const auto index = static_cast<std::size_t>(part * static_cast<double>(taken.size() - 1));
    return std::chrono::duration<double, std::milli>(taken[index]).count();
  };
  return {at(0.5), at(0.99)};
}

// As the journal does: a few pages at the end of a file.
std::vector<Duration> syncs_in(const std::string& folder) {
  const int file = ::open((folder + "/sync").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  const std::string pages(4 * 4096, 'x');
  std::vector<Duration> taken;
  for (int i = 0; i < kSpawns; ++i) {
    if (::write(file, pages.data(), pages.size()) < 0) break;
    const auto before = std::chrono::steady_clock::now();
    if (::fdatasync(file) != 0) break;
    taken.push_back(std::chrono::steady_clock::now() - before);
  }
  ::close(file);
  return taken;
}

int run_bench(const std::string& folder) {
  SystemLoop loop;
  ThreadPool pool(2);
  SystemDisk disk;
  SimProcesses processes(loop);
  SystemRandom random;
  auto home = disk.open(folder, IfAbsent::create);
  if (!home) return 1;
  auto store = SqliteStore::open(loop, **home, std::make_unique<ThreadWriter>());
  if (!store) return 1;
  auto model = std::make_unique<BenchModel>(loop);
  BenchModel& bench = *model;
  Models models;
  models.add(std::move(model));
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
                              .live_sessions = kUnlimited<int>},
                   .attendance = Attendance::approves_all});
  bench.done = [&runtime] { runtime.cancel(StopReason::user); };
  TaskGroup group(loop);
  runtime.start({.brief = {.label = "root", .prompt = "go"},
                 .model = ModelName("bench/x"),
                 .workspace = folder,
                 .rules = Rules({{Decision::allow, "task", ""}})},
                [](const Result<Report>&) {});
  loop.post([&] { group.spawn(wait_for_end(runtime, loop)); });
  loop.run();
  const auto syncs = syncs_in(folder);
  if (bench.taken.empty() || syncs.empty()) return 1;
  const Percentiles spawn = percentiles_of(bench.taken);
  const Percentiles sync = percentiles_of(syncs);
  fmt::print(
      "from the call to the child's request, {} siblings alive, {} spawns: p50 {:.2f} ms, p99 {:.2f} ms; a "
      "sync "
      "alone: p50 {:.2f} ms, p99 {:.2f} ms\n",
      kSiblings, bench.taken.size(), spawn.p50, spawn.p99, sync.p50, sync.p99);
  return 0;
}

}  // namespace
}  // namespace deputy

int main() {
  char folder[] = "/tmp/deputy-bench-XXXXXX";
  if (!::mkdtemp(folder)) return 1;
  const int status = deputy::run_bench(folder);
  std::filesystem::remove_all(folder);
  return status;
}
