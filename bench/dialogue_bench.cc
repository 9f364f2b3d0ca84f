// How soon a child's question is with its parent, how soon a stop has cleaned up, without processes and with
// them, and what a child at rest costs in memory beside its transcript: on a real loop, disk and store, with
// real processes. Only the model is played. Prints each with what it may be. Not a test, but what a child
// holds does not hang on the machine: it fails where that is too much.
#include <fmt/format.h>
#include <malloc.h>

#include <filesystem>
#include <span>
#include <vector>

#include "async/sleep.h"
#include "async/task_group.h"
#include "bench.h"
#include "runtime/runtime.h"
#include "store/sqlite/sqlite_store.h"

namespace deputy {
namespace {

constexpr int kQuestions = 200;
constexpr int kStops = 20;
constexpr int kRunning = 8;  // children that are stopped at once
constexpr int kResting = 1000;
constexpr int kEachStep = 100;         // of them are started
constexpr double kMostKilobytes = 40;  // of a child at rest

// What is played, by the agent and how many replies it has given. What it is told last is in `news`.
struct Heard {
  std::string agent;
  int step = 0;
  std::string news;
  std::size_t told = 0;  // what the messages of the request hold in memory
};
struct Said {
  std::string text = {};
  std::vector<Call> calls = {};
  bool never = false;  // it thinks until it is stopped
};
using Play = std::function<Said(const Heard&)>;

std::size_t bytes_of(std::span<const Message> messages) {
  std::size_t bytes = messages.size_bytes();
  for (const Message& message : messages) {
    bytes += message.text.capacity() + message.thinking.capacity() + message.wire.capacity();
    for (const Call& call : message.calls)
      bytes += sizeof(Call) + call.id.capacity() + call.name.capacity() + call.arguments.capacity();
    for (const ToolResult& result : message.results)
      bytes +=
          sizeof(ToolResult) + result.call_id.capacity() + result.content.capacity() + result.name.capacity();
  }
  return bytes;
}

class BenchModel final : public Provider {
 public:
  BenchModel(Loop& loop, Play play) : loop_(loop), play_(std::move(play)) {}
  std::string_view name() const override { return "bench"; }
  std::string encode(const Message&) const override { return {}; }
  std::int64_t window(const ModelName&) const override { return 100'000'000; }
  std::optional<Price> price(const ModelName&) const override { return Price{}; }

  Task<Reply> ask(Request request, DeltaSink, StopToken stop) override {
    Heard heard{.agent = request.agent, .told = bytes_of(request.messages)};
    for (const Message& message : request.messages) heard.step += message.role == Role::assistant ? 1 : 0;
    for (const ToolResult& result : request.messages.back().results) heard.news += result.content;
    heard.news += request.messages.back().text;
    Said said = play_(heard);
    Reply reply{.stop = said.calls.empty() ? ReplyStop::finished : ReplyStop::calls,
                .model = request.prefix->model};
    if (said.never) {
      co_await sleep_for(loop_, std::chrono::hours(1), stop);
      reply.stop = ReplyStop::stopped;
      co_return reply;
    }
    for (std::size_t at = 0; at < said.calls.size(); ++at)
      said.calls[at].id = fmt::format("c{}_{}", heard.step, at);
    reply.message = {.role = Role::assistant, .text = std::move(said.text), .calls = std::move(said.calls)};
    co_return reply;
  }

 private:
  Loop& loop_;
  Play play_;
};

Call task(std::string_view agent, std::string_view more = "") {
  return {.name = "task", .arguments = fmt::format(R"({{"agent":"{}","prompt":"p"{}}})", agent, more)};
}

struct World {
  World(const std::string& folder, Play play)
      : home(*disk.open(folder + "/home", IfAbsent::create)), workspace(folder + "/work") {
    std::filesystem::create_directories(workspace);
    auto store = SqliteStore::open(loop, *home, std::make_unique<ThreadWriter>());
    Models models;
    models.add(std::make_unique<BenchModel>(loop, std::move(play)));
    Profiles profiles = Profiles::built_in();
    profiles.add({.name = "worker", .tools = {"Bash"}, .workspace = WorkspaceMode::shared});
    runtime.emplace(Runtime::Parts{.loop = loop,
                                   .pool = pool,
                                   .disk = disk,
                                   .processes = processes,
                                   .random = random,
                                   .store = *std::move(store),
                                   .models = std::move(models),
                                   .profiles = std::move(profiles),
                                   .state = home},
                    Runtime::Options{.limits = {.delegations = kUnlimited<int>,
                                                .live_children = kUnlimited<int>,
                                                .live_sessions = kUnlimited<int>},
                                     .attendance = Attendance::approves_all,
                                     .tools = {.search = {}, .bash = {.least = SandboxLevel::none}},
                                     .hidden = {home->path()}});
  }
  void run() {
    TaskGroup group(loop);
    runtime->start({.brief = {.label = "root", .prompt = "go"},
                    .model = ModelName("bench/m"),
                    .workspace = workspace,
                    .rules = Rules({{Decision::allow, "task", ""},
                                    {Decision::allow, "spawn_subagent", ""},
                                    {Decision::allow, "Bash", ""}})},
                   [this](const Result<Report>&) { ended = loop.clock().now(); });
    loop.post([&] { group.spawn(wait_for_end(this)); });
    loop.run();
  }
  static Task<> wait_for_end(World* world) {
    co_await world->runtime->close();
    world->loop.stop();
  }

  SystemLoop loop;
  ThreadPool pool{2};
  SystemDisk disk;
  SystemProcesses processes{
      loop, (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "deputy-init").string()};
  SystemRandom random;
  std::shared_ptr<Folder> home;
  std::string workspace;
  std::optional<Runtime> runtime;
  TimePoint ended{};
};

void print(std::string_view what, std::vector<Duration> taken, std::string_view most) {
  const std::size_t times = taken.size();
  const Percentiles found = percentiles_of(std::move(taken));
  fmt::print("{}, {} times: p50 {:.2f} ms, p99 {:.2f} ms (to be under {})\n", what, times, found.p50,
             found.p99, most);
}

void ask_questions(const std::string& folder) {
  TimePoint asked{};
  std::vector<Duration> to_loop;
  std::vector<Duration> to_model;
  std::optional<World> world;
  world.emplace(folder, [&](const Heard& heard) -> Said {
    const TimePoint now = world->loop.clock().now();
    if (heard.agent != "main" && heard.step == 0) {
      asked = now;
      return {.calls = {{.name = "ask_parent", .arguments = R"({"question":"Which?"})"}}};
    }
    if (heard.agent != "main") return {.text = "done"};
    constexpr std::string_view kId = "question_id: ";
    if (const auto at = heard.news.find(kId); at != std::string::npos) {
      to_model.push_back(now - asked);
      const auto id = heard.news.substr(at + kId.size(), heard.news.find('\n', at) - at - kId.size());
      return {.calls = {{.name = "answer_subagent",
                         .arguments = fmt::format(R"({{"question_id":"{}","answer":"red"}})", id)}}};
    }
    if (to_model.size() >= kQuestions) return {.text = "over"};
    return {.calls = {{.name = "spawn_subagent", .arguments = R"({"agent":"explore","task":"t"})"}}};
  });
  world->runtime->subscribe([&](const Event& event, const EventOrigin& origin) {
    const auto* finished = std::get_if<CallFinished>(&event.fact);
    if (finished && origin.agent == "main" && finished->result.content.contains("question_id: "))
      to_loop.push_back(world->loop.clock().now() - asked);
  });
  world->run();
  print("from a child's question to its parent's loop", std::move(to_loop), "5 ms");
  print("and to its parent's next request", std::move(to_model), "-");
}

// All children run; a moment later everything is stopped.
Duration stop_all(const std::string& folder, bool with_processes) {
  int running = 0;
  TimePoint stopped{};
  std::optional<World> world;
  const auto runs = [&] {
    if (++running < kRunning) return;
    world->loop.timers().call_at(world->loop.clock().now() + std::chrono::milliseconds(300), [&] {
      stopped = world->loop.clock().now();
      world->runtime->cancel(StopReason::user);
    });
  };
  world.emplace(folder, [&](const Heard& heard) -> Said {
    if (heard.agent == "main") return {.calls = std::vector<Call>(kRunning, task("worker"))};
    runs();
    if (!with_processes) return {.never = true};
    return {.calls = {{.name = "Bash", .arguments = R"({"command":"sleep 1000 & sleep 1000"})"}}};
  });
  world->run();
  return world->ended - stopped;
}

// What is allocated more once all children rest: a child's session, tasks, timers and places in the tree's
// and the store's maps, what the store caches of its rows, and its parent's task beside it. Taken off is its
// transcript: the messages of its request, and those that its parent's request has of it. The system prompt
// and the tools' texts are shared by all children of a profile; a request's bytes on the wire are not there,
// since the model is played. Says whether that is little enough.
bool rest(const std::string& folder, bool asks) {
  std::size_t before = 0;
  std::size_t after = 0;
  std::size_t parent_before = 0;
  std::size_t parent_after = 0;
  std::size_t children = 0;
  int resting = 0;
  std::optional<World> world;
  const auto rests = [&] {
    if (++resting != kResting) return;
    world->loop.timers().call_at(world->loop.clock().now() + std::chrono::seconds(2), [&] {
      after = ::mallinfo2().uordblks;
      world->runtime->cancel(StopReason::user);
    });
  };
  world.emplace(folder, [&](const Heard& heard) -> Said {
    if (heard.agent == "main") {
      if (heard.step == 0) before = ::mallinfo2().uordblks;
      if (heard.step == 0) parent_before = heard.told;
      parent_after = heard.told;
      if (heard.step == kResting / kEachStep) return {.never = true};
      return {.calls = std::vector<Call>(kEachStep, task("explore", R"(,"run_in_background":true)"))};
    }
    children += heard.told;
    if (asks) return {.calls = {{.name = "ask_parent", .arguments = R"({"question":"Which?"})"}}};
    rests();
    return {.never = true};
  });
  world->runtime->subscribe([&](const Event& event, const EventOrigin&) {
    if (std::holds_alternative<QuestionAsked>(event.fact)) rests();
  });
  world->run();
  const auto kilobytes = [](std::size_t bytes) { return static_cast<double>(bytes) / kResting / 1024; };
  const std::size_t transcripts = children + parent_after - parent_before;
  const double held = kilobytes(after - before - transcripts);
  fmt::print("a child at rest, {}, of {}: {:.1f} KB beside its transcript of {:.1f} KB (to be under {} KB)\n",
             asks ? "its parent asked" : "its model asked", resting, held, kilobytes(transcripts),
             kMostKilobytes);
  return resting == kResting && held < kMostKilobytes;
}

}  // namespace

int run_bench(const std::string& folder) {
  int number = 0;
  const auto next = [&] { return fmt::format("{}/{}", folder, ++number); };
  ask_questions(next());
  for (const bool with_processes : {false, true}) {
    std::vector<Duration> taken;
    for (int i = 0; i < kStops; ++i) taken.push_back(stop_all(next(), with_processes));
    print(fmt::format("from a stop to the end of {} children {} processes", kRunning,
                      with_processes ? "with" : "without"),
          std::move(taken), with_processes ? "2 s" : "100 ms");
  }
  const bool model_asked = rest(next(), false);
  const bool parent_asked = rest(next(), true);
  return model_asked && parent_asked ? 0 : 1;
}

}  // namespace deputy
