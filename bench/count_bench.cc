// A delegation that is the same to the last instruction each time: eight children that read four files each,
// in simulation, with the store and the pool on the loop itself. What is ours of a real one is all there,
// from the request in a real provider's dialect to the journal. bench/count counts its instructions.
#include <fmt/format.h>

#include <algorithm>

#include "async/sim_loop.h"
#include "bench.h"
#include "played_provider.h"
#include "runtime/runtime.h"
#include "store/memory_store.h"

namespace deputy {
namespace {

constexpr int kChildren = 8;
constexpr int kReads = 4;
constexpr std::string_view kRootTask = "Hand the notes out.";
constexpr std::string_view kWorkspace = "/work";

int replies_in(std::string_view body) {
  constexpr std::string_view kReply = R"("role":"assistant")";
  int replies = 0;
  for (auto at = body.find(kReply); at != std::string_view::npos; at = body.find(kReply, at + kReply.size()))
    ++replies;
  return replies;
}

// The model's server, played.
class Server {
 public:
  SimExchange operator()(const HttpRequest& request) {
    const int step = replies_in(request.body);
    const bool is_root = request.body.contains(kRootTask);
    requests += 1;
    if (!is_root && step == 0) first_bytes = std::max(first_bytes, request.body.size());
    return answer_in(Tongue::anthropic, is_root ? root_says(step) : child_says(step));
  }
  int requests = 0;
  std::size_t first_bytes = 0;  // of a child's first request

 private:
  static Said root_says(int step) {
    if (step > 0) return {.text = "All notes are read."};
    Said said;
    for (int i = 0; i < kChildren; ++i) {
      said.calls.push_back(
          {.id = fmt::format("toolu_{}", i),
           .name = "task",
           .arguments = fmt::format(R"({{"agent":"general","prompt":"Read the notes as number {}."}})", i)});
    }
    return said;
  }
  static Said child_says(int step) {
    if (step == kReads) return {.text = "The notes are read."};
    return {.calls = {{.id = fmt::format("toolu_{}", step),
                       .name = "Read",
                       .arguments = fmt::format(R"({{"file_path":"note_{}.txt"}})", step)}}};
  }
};

Result<Report> delegate(Server& server) {
  SimLoop loop(1);
  InlinePool pool;
  MemoryDisk disk(loop.clock());
  SimProcesses processes(loop);
  SeededRandom random(1);
  SimNetwork network(loop);
  network.define(kPlayedServer, std::ref(server));
  Governors governors(loop);
  TRY(const auto workspace, disk.open(kWorkspace, IfAbsent::create));
  for (int i = 0; i < kReads; ++i) {
    TRY(workspace->replace(fmt::format("note_{}.txt", i),
                           fmt::format("note {} line one\nnote {} line two: the quick brown fox\n", i, i)));
  }
  TRY(auto exports, disk.open("/home/subagent", IfAbsent::create));
  TRY(auto state, disk.open("/home", IfAbsent::create));
  Models models;
  models.add(std::make_unique<HttpProvider>(played_provider(network, loop, random, governors)));
  Runtime runtime(
      {.loop = loop,
       .pool = pool,
       .disk = disk,
       .processes = processes,
       .random = random,
       .store = std::make_unique<MemoryStore>(loop, std::make_shared<MemoryStore::Memory>(),
                                              std::make_unique<TranscriptFiles>(std::move(exports))),
       .models = std::move(models),
       .state = std::move(state)},
      {.limits = {}, .attendance = Attendance::approves_all, .hidden = {"/home"}});
  Result<Report> end = fail(ErrorCode::internal, "the tree did not end");
  runtime.start({.brief = {.label = "root", .prompt = std::string(kRootTask)},
                 .model = ModelName("anthropic/claude-sonnet-4-5"),
                 .workspace = std::string(kWorkspace),
                 .rules = Rules({{Decision::allow, "task", ""}})},
                [&end](Result<Report> report) { end = std::move(report); });
  loop.run_until_idle();
  return end;
}

}  // namespace

// What is counted: not what a process does only once.
[[gnu::noinline]] Result<Report> counted_delegation(Server& server) { return delegate(server); }

int run_bench(const std::string& /*folder*/) {
  constexpr int kRequests = 2 + kChildren * (kReads + 1);
  Server once;
  (void)delegate(once);
  Server server;
  const auto report = counted_delegation(server);
  if (!report || report->status != Status::completed || server.requests != kRequests) {
    fmt::print("the delegation went another way than it should: {} of {} requests, {}\n", server.requests,
               kRequests, report ? report->body : to_text(report.error()));
    return 1;
  }
  fmt::print("{} children, {} requests; a child's first request has {} bytes\n", kChildren, server.requests,
             server.first_bytes);
  return 0;
}

}  // namespace deputy
