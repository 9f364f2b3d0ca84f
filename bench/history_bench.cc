// What a step costs by how long the conversation before it is: CPU of the whole process from one request to
// the next, each with a file read, over 10 KB of history and over 1 MB. On a real disk and store, in a real
// provider's dialect; writer and pool are on the loop itself, and nothing goes through a socket. Prints both
// and their ratio, which does not hang on the machine: it fails where that is too much.
#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "async/sim_loop.h"
#include "bench.h"
#include "model/http_provider.h"
#include "model/tongues.h"
#include "runtime/runtime.h"
#include "store/sqlite/sqlite_store.h"

namespace deputy {
namespace {

constexpr int kRounds = 7;
constexpr int kMeasured = 25;          // steps of a round
constexpr std::size_t kPage = 10'000;  // bytes that a step adds until the history is long enough
constexpr double kMostRatio = 1.5;

double cpu_ms() {
  timespec used{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) * 1e3 + static_cast<double>(used.tv_nsec) / 1e6;
}

Said reads(int step, std::string_view path) {
  return {.calls = {{.id = fmt::format("toolu_{}", step),
                     .name = "Read",
                     .arguments = fmt::format(R"({{"file_path":"{}"}})", path)}}};
}

// The model's server: its answers are made before anything is measured, and are there at once.
class Answers final : public Network {
 public:
  explicit Answers(int pages) : pages_(pages) {
    for (int step = 0; step < pages; ++step) answers_.push_back(in_tongue(reads(step, "page.txt")));
    for (int step = pages; step < pages + kMeasured; ++step)
      answers_.push_back(in_tongue(reads(step, "note.txt")));
    answers_.push_back(in_tongue({.text = "All is read."}));
  }
  Task<Result<HttpEnd>> exchange(HttpRequest request, HttpSink sink, StopToken /*stop*/) override {
    if (asked_ == pages_) {
      history_bytes = request.body.size();
      began_ms_ = cpu_ms();
    }
    if (asked_ == pages_ + kMeasured) step_ms = (cpu_ms() - began_ms_) / kMeasured;
    const SimExchange& answer = answers_[static_cast<std::size_t>(std::min(asked_++, pages_ + kMeasured))];
    sink.start({answer.status, answer.headers});
    for (const SimChunk& chunk : answer.chunks) sink.bytes(chunk.bytes);
    co_return HttpEnd{.status = answer.status, .headers = answer.headers};
  }
  std::size_t history_bytes = 0;  // of the first request that is measured
  double step_ms = 0;

 private:
  static SimExchange in_tongue(const Said& said) { return answer_in(Tongue::anthropic, said); }
  int pages_;
  int asked_ = 0;
  double began_ms_ = 0;
  std::vector<SimExchange> answers_;
};

Result<Report> converse(const std::string& folder, Answers& answers) {
  SimLoop loop(1);
  InlinePool pool;
  SystemDisk disk;
  SimProcesses processes(loop);
  SeededRandom random(1);
  Governors governors(loop);
  TRY(const auto workspace, disk.open(folder + "/work", IfAbsent::create));
  std::string page;
  while (page.size() < kPage) page += "The quick brown fox jumps over 12 lazy dogs; nobody minds it.\n";
  TRY(workspace->replace("page.txt", page));
  TRY(workspace->replace("note.txt", "a short note\n"));
  TRY(std::shared_ptr<Folder> home, disk.open(folder + "/home", IfAbsent::create));
  TRY(auto store, SqliteStore::open(loop, *home, std::make_unique<InlineWriter>(loop)));
  Models models;
  models.add(std::make_unique<HttpProvider>(HttpProvider::Parts{
      .dialect = dialect_of(Tongue::anthropic),
      .endpoint = {"http://model", "key"},
      .key_variable = "",
      .network = answers,
      .loop = loop,
      .random = random,
      .governors = governors,
      .facts = [](const ModelName&) {
        return ModelFacts{.window = 10'000'000, .max_output = {}, .price = Price{.input = 1, .output = 5}};
      }}));
  Runtime runtime({.loop = loop,
                   .pool = pool,
                   .disk = disk,
                   .processes = processes,
                   .random = random,
                   .store = std::move(store),
                   .models = std::move(models),
                   .state = home},
                  {.limits = {}, .attendance = Attendance::approves_all, .hidden = {home->path()}});
  Result<Report> end = fail(ErrorCode::internal, "the conversation did not end");
  runtime.start({.brief = {.label = "root", .prompt = "Read on."},
                 .model = ModelName("anthropic/claude-sonnet-4-5"),
                 .workspace = workspace->path()},
                [&end](Result<Report> report) { end = std::move(report); });
  loop.run_until_idle();
  return end;
}

struct Figure {
  std::size_t pages;
  std::size_t history_bytes = 0;
  std::vector<double> step_ms = {};
  double median() {
    std::ranges::sort(step_ms);
    return step_ms[step_ms.size() / 2];
  }
};

}  // namespace

int run_bench(const std::string& folder) {
  Figure few{.pages = 1};
  Figure many{.pages = 100};
  for (int round = 0; round < kRounds; ++round) {
    for (Figure* figure : {&few, &many}) {
      const std::string own = fmt::format("{}/{}_{}", folder, round, figure->pages);
      Answers answers(static_cast<int>(figure->pages));
      const auto report = converse(own, answers);
      if (!report || report->status != Status::completed || answers.step_ms <= 0) {
        fmt::print("the conversation went another way than it should: {}\n",
                   report ? report->body : to_text(report.error()));
        return 1;
      }
      figure->history_bytes = answers.history_bytes;
      figure->step_ms.push_back(answers.step_ms);
      std::filesystem::remove_all(own);
    }
  }
  const double ratio = many.median() / few.median();
  fmt::print(
      "CPU of a step, {} rounds of {} steps: {:.3f} ms with a request of {} bytes, {:.3f} ms with one of "
      "{}\n",
      kRounds, kMeasured, few.median(), few.history_bytes, many.median(), many.history_bytes);
  fmt::print("CPU of a step with 1 MB of history ÷ with 10 KB: {:.2f} (to be at most {}): {}\n", ratio,
             kMostRatio, ratio <= kMostRatio ? "met" : "NOT MET");
  return ratio <= kMostRatio ? 0 : 1;
}

}  // namespace deputy
