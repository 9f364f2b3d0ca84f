// What the single parts of a step take by themselves: a reply read out of its stream, a request written and
// handed over, a child admitted, a command judged, a unit of events made durable.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "async/sim_loop.h"
#include "async/task_group.h"
#include "bench.h"
#include "delegation/admission.h"
#include "delegation/budget.h"
#include "guard/rules.h"
#include "model/context_estimate.h"
#include "net/sse.h"
#include "played_provider.h"
#include "store/sqlite/sqlite_store.h"

namespace deputy {
namespace {

// An answer in many pieces, as they come: a text of 200 words.
std::string long_answer() {
  std::string stream =
      "event: message_start\ndata: " +
      to_json_text(json::object{
          {"type", "message_start"},
          {"message", {{"id", "msg_1"}, {"role", "assistant"}, {"usage", {{"input_tokens", 1000}}}}}}) +
      "\n\n";
  const auto add = [&stream](const json::object& data) {
    stream += fmt::format("event: {}\ndata: {}\n\n", string_or(data, "type", ""), to_json_text(data));
  };
  add({{"type", "content_block_start"}, {"index", 0}, {"content_block", {{"type", "text"}, {"text", ""}}}});
  for (int i = 0; i < 200; ++i) {
    add({{"type", "content_block_delta"},
         {"index", 0},
         {"delta", {{"type", "text_delta"}, {"text", "another word "}}}});
  }
  add({{"type", "content_block_stop"}, {"index", 0}});
  add({{"type", "message_delta"},
       {"delta", {{"stop_reason", "end_turn"}}},
       {"usage", {{"output_tokens", 400}}}});
  add({{"type", "message_stop"}});
  return stream;
}

void told_in_bytes(benchmark::State& state, std::size_t bytes) {
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * static_cast<std::int64_t>(bytes));
}

void decode_sse(benchmark::State& state) {
  const std::string stream = long_answer();
  for (auto _ : state) {
    SseDecoder decoder;
    std::size_t events = 0;
    const SseDecoder::Sink sink = [&events](const SseEvent&) { ++events; };
    decoder.feed(stream, sink);
    decoder.finish(sink);
    benchmark::DoNotOptimize(events);
  }
  told_in_bytes(state, stream.size());
}
BENCHMARK(decode_sse);

void decode_reply(benchmark::State& state) {
  const std::string stream = long_answer();
  const auto dialect = anthropic_dialect();
  for (auto _ : state) {
    const auto decoder = dialect->decoder();
    decoder->feed(stream, [](const Delta&) {});
    const auto reply = decoder->finish();
    if (!reply) return state.SkipWithError("the answer was not understood");
    benchmark::DoNotOptimize(reply->message.text.size());
  }
  told_in_bytes(state, stream.size());
}
BENCHMARK(decode_reply);

// Answers at once.
class InstantNetwork final : public Network {
 public:
  Task<Result<HttpEnd>> exchange(HttpRequest request, HttpSink sink, StopToken /*stop*/) override {
    benchmark::DoNotOptimize(request.body.data());
    sink.start({answer_.status, answer_.headers});
    for (const SimChunk& chunk : answer_.chunks) sink.bytes(chunk.bytes);
    co_return HttpEnd{.status = answer_.status, .headers = answer_.headers};
  }

 private:
  SimExchange answer_ = answer_in(Tongue::anthropic, {.text = "done"});
};

Task<> ask(HttpProvider& provider, Request request, bool* is_answered) {
  const Reply reply = co_await provider.ask(std::move(request), {}, {});
  *is_answered = reply.stop == ReplyStop::finished;
}

// One request over a history of about so many bytes, written by parts that were kept, up to its short answer.
void ask_model(benchmark::State& state) {
  SimLoop loop(1);
  InstantNetwork network;
  SeededRandom random(1);
  Governors governors(loop);
  HttpProvider provider(played_provider(network, loop, random, governors));
  auto prefix = std::make_shared<RequestPrefix>();
  prefix->model = ModelName("anthropic/claude-sonnet-4-5");
  prefix->system = std::string(2000, 'x');
  std::string text;  // words, as they are: how long they are decides what it takes to weigh them
  while (text.size() < 1000) text += "The quick brown fox jumps over 12 lazy dogs. ";
  std::vector<Message> messages;
  std::vector<std::string> fragments;
  std::vector<MessageWeight> weights;
  for (std::int64_t bytes = 0; bytes < state.range(0); bytes += std::ssize(text)) {
    const Role role = messages.size() % 2 == 0 ? Role::user : Role::assistant;
    messages.push_back({.role = role, .text = text});
    fragments.push_back(provider.encode(messages.back()));
    weights.push_back(weight_of(messages.back()));
  }
  TaskGroup group(loop);
  for (auto _ : state) {
    bool is_answered = false;
    group.spawn(ask(provider,
                    {.prefix = prefix,
                     .messages = messages,
                     .fragments = fragments,
                     .weights = weights,
                     .measured = Measured{messages.size() - 1, state.range(0) / 4}},
                    &is_answered));
    loop.run_until_idle();
    if (!is_answered) return state.SkipWithError("the request was not answered");
  }
}
BENCHMARK(ask_model)->Arg(10'000)->Arg(1'000'000)->Unit(benchmark::kMicrosecond);

// What is decided before a child is made: whether it may stand there, and whether the budget has room.
void admit_child(benchmark::State& state) {
  TreeLimits limits;
  limits.delegations = kUnlimited<int>;
  limits.cost_micros = 1'000'000'000;
  Session parent;
  parent.depth = 1;
  parent.path = {"main", "planner"};
  const Profile profile{.name = "explore"};
  Budget budget(limits);
  for (auto _ : state) {
    const auto refusal = refusal_of_child(parent, profile, limits);
    const auto hold = budget.reserve({.delegations = 1, .steps = 1, .tokens = 5000, .cost_micros = 100});
    if (refusal || !hold) return state.SkipWithError("the child was refused");
  }
}
BENCHMARK(admit_child);

void judge_command(benchmark::State& state) {
  const Rules rules({{Decision::allow, "Bash", "git status:*"},
                     {Decision::allow, "Bash", "cat:*"},
                     {Decision::deny, "Bash", "rm:*"},
                     {Decision::deny, "Read", "**/.env"}});
  for (auto _ : state) {
    const Verdict verdict = rules.judge_command(
        "git status --short && cat src/main.cc 'src/a file.cc' | head -n 20 > /tmp/seen.txt; ls -la docs",
        Decision::ask, {});
    benchmark::DoNotOptimize(verdict.decision);
  }
}
BENCHMARK(judge_command);

Task<> append(SqliteStore& store, std::vector<Event> events, bool* is_kept) {
  *is_kept = (co_await store.record(std::move(events))).has_value();
}

// A reply and a result, as one unit, synced to the disk that holds the bench's folder.
void append_to_journal(benchmark::State& state, const std::string& folder) {
  SimLoop loop(1);
  SystemDisk disk;
  const auto home = disk.open(folder, IfAbsent::create);
  if (!home) return state.SkipWithError("there is no folder for the journal");
  auto store = SqliteStore::open(loop, **home, std::make_unique<InlineWriter>(loop));
  if (!store) return state.SkipWithError("the journal cannot be opened");
  Session session;
  session.id = session.tree = SessionId(fmt::format("sess_1_{:06}", state.iterations() % 1'000'000));
  session.model = ModelName("bench/x");
  session.path = {"main"};
  session.permissions = Rules().to_json();
  const auto event = [&session](Fact fact) {
    Event made;
    made.tree = session.tree;
    made.run = {session.id, 1};
    made.fact = std::move(fact);
    return made;
  };
  const auto claimed = (*store)->claim(session.tree);
  TaskGroup group(loop);
  bool is_kept = claimed.has_value();
  const auto keep = [&](std::vector<Event> events) {
    group.spawn(append(**store, std::move(events), &is_kept));
    loop.run_until_idle();
    return is_kept;
  };
  if (!is_kept || !keep({event(SessionCreated{session}), event(RunStarted{})}))
    return state.SkipWithError("the session was not kept");
  int step = 0;
  for (auto _ : state) {
    Reply reply;
    reply.model = session.model;
    reply.message = {.role = Role::assistant, .text = std::string(200, 'x')};
    auto replied = event(ReplyReceived{std::move(reply)});
    auto finished = event(CallFinished{{.content = std::string(200, 'y')}});
    replied.step = finished.step = step++;
    finished.call = 0;
    if (!keep({std::move(replied), std::move(finished)})) return state.SkipWithError("a unit was not kept");
  }
}

}  // namespace

int run_bench(const std::string& folder) {
  int runs = 0;
  benchmark::RegisterBenchmark("append_to_journal", [&](benchmark::State& state) {
    append_to_journal(state, fmt::format("{}/{}", folder, ++runs));
  })->Unit(benchmark::kMicrosecond);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}

}  // namespace deputy
