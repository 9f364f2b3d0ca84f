// A conversation that becomes too long is summed up by its model, and goes on from the summary; undone, it is
// told as if nothing had happened.
#include <gmock/gmock.h>

#include <memory>
#include <ranges>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "agent/conversation.h"
#include "delegation/budget.h"
#include "model/context_estimate.h"
#include "model/offline.h"
#include "support/hosted_provider.h"
#include "support/sim_world.h"

namespace deputy {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// Room for about nine files beside system prompt and tools.
constexpr std::int64_t kWindow = 32'000;
constexpr std::string_view kSummary = "the files say words and nothing else; next is file ";

// What every request held, byte by byte.
using Requests = std::vector<std::string>;

// What a request came to, and of that what it holds whatever is said.
struct Weighed {
  std::int64_t tokens = 0;
  std::int64_t always = 0;
  bool is_wish = false;
};

std::string bytes_of(const Message& message) {
  std::string bytes = std::string(name_of(message.role)) + ": " + message.text;
  for (const Call& call : message.calls) bytes += call.id + call.name + call.arguments;
  for (const ToolResult& result : message.results) bytes += result.call_id + result.content;
  return bytes + "\n";
}

struct Plot {
  std::int64_t window = kWindow;
  int reads = 12;        // so many files are asked for; then it is done
  int at_once = 1;       // of these with one reply
  bool sums_up = true;   // or asks for a tool instead
  std::string hands_to;  // the agent that the root hands its work to; empty: it reads itself
};

// Keeps no state: what it says follows from the request.
class SmallWindow final : public Provider {
 public:
  SmallWindow(Plot plot, Requests& requests, std::vector<Weighed>& weighed)
      : plot_(std::move(plot)), requests_(requests), weighed_(weighed) {}
  std::string_view name() const override { return "small"; }
  std::string encode(const Message& message) const override { return bytes_of(message); }
  std::int64_t window(const ModelName&) const override { return plot_.window; }
  std::optional<Price> price(const ModelName&) const override { return Price{}; }

  Task<Reply> ask(Request request, DeltaSink, StopToken) override {
    EXPECT_EQ(request.fragments.size(), request.messages.size());
    std::string bytes;
    for (const auto& fragment : request.fragments) bytes += fragment;
    requests_.push_back(request.agent + "\n" + bytes);
    Reply reply{.model = request.prefix->model, .message = {.role = Role::assistant}};
    const auto always = estimated_tokens(*request.prefix);
    const auto tokens = always + estimated_tokens(request.prefix->model, request.messages);
    weighed_.push_back({tokens, always, is_wish(request)});
    reply.usage = {.input = tokens, .output = 10, .cost_micros = 0};
    if (tokens > plot_.window) {
      reply.stop = ReplyStop::context_exhausted;
      reply.error = "it does not fit";
      co_return reply;
    }
    play(request, reply);
    reply.stop = reply.message.calls.empty() ? ReplyStop::finished : ReplyStop::calls;
    co_return reply;
  }

 private:
  static bool is_wish(const Request& request) {
    return request.messages.back().text == wish_for_summary().text;
  }
  // By the last file that was asked for, or by what the summary says of it.
  static int next_file(std::span<const Message> messages) {
    for (const Message& message : std::views::reverse(messages)) {
      if (!message.calls.empty()) return std::stoi(message.calls.back().id.substr(1)) + 1;
      const auto at = message.text.find(kSummary);
      if (at != std::string::npos) return std::stoi(message.text.substr(at + kSummary.size()));
    }
    return 0;
  }
  void play(const Request& request, Reply& reply) const {
    const int next = next_file(request.messages);
    const bool hands_on = request.depth == 0 && !plot_.hands_to.empty();
    if (is_wish(request) && plot_.sums_up) {
      reply.message.text = std::string(kSummary) + std::to_string(next);
    } else if (hands_on && request.messages.size() == 1) {
      reply.message.calls = {
          {"c0", "task", R"({"agent":")" + plot_.hands_to + R"(","prompt":"read them all"})"}};
    } else if (!hands_on && (is_wish(request) || next < plot_.reads)) {
      for (int file = next; file < next + plot_.at_once; ++file) {
        const std::string at = std::to_string(file);
        reply.message.calls.push_back({"c" + at, "Read", R"({"file_path":"f)" + at + R"(.txt"})"});
      }
    } else {
      reply.message.text = "done";
    }
  }

  Plot plot_;
  Requests& requests_;
  std::vector<Weighed>& weighed_;
};

class Compaction : public testing::Test {
 protected:
  Compaction() { begin_anew(); }

  void begin_anew() {
    kept = std::make_unique<SimWorld>();
    kept->script = R"({"v":1,"sessions":[{"replies":[{"text":"never asked"}]}]})";
    std::string words;
    for (int i = 0; i < 200; ++i) words += "word word word word word word word word word word\n";
    for (int i = 0; i < 14; ++i) kept->write_file("f" + std::to_string(i) + ".txt", words);
  }
  Life::Options options() {
    return {.seed = seed,
            .crash = crash,
            .limits = limits,
            .model = [this](Loop&) { return std::make_unique<SmallWindow>(plot, requests, weighed); },
            .profiles = profiles};
  }
  Result<Report> start() {
    Life life(*kept, options());
    RootBrief root = life.brief("read them all");
    root.model = ModelName("small/x");
    root.rules = Rules({{Decision::allow, "task", ""}});
    auto report = life.start(std::move(root));
    has_crashed = life.crashed();
    return report;
  }
  Result<Report> resume() {
    Life life(*kept, options());
    return life.resume(kept->sessions().front().id);
  }
  Result<Report> say(std::string text, RunTask task = RunTask::reply) {
    Life life(*kept, options());
    auto report = life.say(kept->sessions().front().id, {.text = std::move(text), .task = task});
    has_crashed = life.crashed();
    return report;
  }
  std::vector<Compacted> compactions() const {
    std::vector<Compacted> found;
    for (const Event& event : kept->memory->journal) {
      if (const auto* fact = std::get_if<Compacted>(&event.fact)) found.push_back(*fact);
    }
    return found;
  }

  std::unique_ptr<SimWorld> kept;
  Plot plot;
  Requests requests;
  std::vector<Weighed> weighed;  // the same, in the same order
  std::vector<Profile> profiles;
  CrashPoint crash;
  TreeLimits limits;
  std::uint64_t seed = 1;
  bool has_crashed = false;
};

TEST_F(Compaction, ARootWhoseWindowIsNearlyFullGoesOnFromASummary) {
  const auto report = start();
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->status, Status::completed) << report->body;
  EXPECT_EQ(report->body, "done");
  ASSERT_FALSE(compactions().empty());
  EXPECT_THAT(requests, Contains(StartsWith("main\nuser: The conversation so far was compacted.")));
  EXPECT_THAT(requests.back(), HasSubstr(kSummary));
  EXPECT_THAT(requests.back(), Not(HasSubstr("read them all"))) << "the summary stands in its place";
}

// The provider counts as it is estimated, and every step adds as much: so none is told past the mark, and
// what was summed up had passed it.
TEST_F(Compaction, ComesWhenFourFifthsOfTheRoomBesideSystemPromptAndToolsAreTaken) {
  ASSERT_TRUE(start());
  ASSERT_FALSE(compactions().empty());
  const std::int64_t always = weighed.front().always;
  const std::int64_t mark = always + (kWindow - always) * 80 / 100;
  ASSERT_FALSE(weighed[1].is_wish) << "there is room for several steps";
  const std::int64_t step = weighed[1].tokens - weighed[0].tokens;
  constexpr std::int64_t kRounding = 20;
  for (std::size_t at = 1; at < weighed.size(); ++at) {
    if (weighed[at].is_wish) {
      EXPECT_GT(weighed[at - 1].tokens + step + kRounding, mark);
    } else {
      EXPECT_LE(weighed[at].tokens, mark + kRounding);
    }
  }
}

TEST_F(Compaction, IsAnnouncedInTheStreamAndCountedAsUsed) {
  ASSERT_TRUE(start());
  std::int64_t used = 0;
  std::size_t announced = 0;
  for (const Event& event : kept->memory->journal) {
    for (const json::object& line : to_lines(event, {}))
      announced += string_or(line, "event", "") == "compacted";
    if (const auto* reply = std::get_if<ReplyReceived>(&event.fact)) used += reply->reply.usage.input;
  }
  ASSERT_EQ(announced, compactions().size());
  for (const Compacted& fact : compactions()) used += fact.reply.usage.input;
  EXPECT_EQ(kept->sessions().front().usage.input, used);
}

TEST_F(Compaction, CountsAgainstTheBudgetAsAStepDoes) {
  limits.tokens = 10'000'000;
  const auto report = start();
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->status, Status::completed) << report->body;
  ASSERT_FALSE(compactions().empty());
  const Amount used = used_by(kept->memory->journal);
  const Usage usage = kept->sessions().front().usage;
  EXPECT_EQ(used.tokens, usage.input + usage.output) << "nothing that was reserved is left";
  EXPECT_EQ(used.steps, static_cast<std::int64_t>(requests.size()));

  begin_anew();
  limits.tokens = used.tokens / 2;
  const auto limited = start();
  ASSERT_TRUE(limited) << limited.error().message;
  EXPECT_EQ(limited->reason, Reason::budget);
  EXPECT_LE(used_by(kept->memory->journal).tokens, limits.tokens);
}

TEST_F(Compaction, WithRoomEnoughNothingIsSummedUp) {
  plot.window = 1'000'000;
  ASSERT_TRUE(start());
  EXPECT_TRUE(compactions().empty());
}

TEST_F(Compaction, UndoneTheNextRequestIsWhatItWouldHaveBeen) {
  plot.window = 1'000'000;
  plot.reads = 2;
  ASSERT_TRUE(start());
  ASSERT_TRUE(say("more"));
  const std::string as_it_would_be = requests.back();

  begin_anew();
  ASSERT_TRUE(start());
  const auto compacted = say("", RunTask::compact);
  ASSERT_TRUE(compacted) << compacted.error().message;
  EXPECT_EQ(compacted->status, Status::completed);
  ASSERT_EQ(compactions().size(), 1u);
  const auto undone = say("", RunTask::undo_compaction);
  ASSERT_TRUE(undone) << undone.error().message;
  EXPECT_EQ(undone->status, Status::completed);
  ASSERT_TRUE(say("more"));
  EXPECT_EQ(requests.back(), as_it_would_be);
}

TEST_F(Compaction, UndoneAfterStepsThatFollowedItTheNextRequestIsWhatItWouldHaveBeen) {
  plot.window = 1'000'000;
  ASSERT_TRUE(start());
  ASSERT_TRUE(say("more"));
  ASSERT_TRUE(compactions().empty());
  const std::string as_it_would_be = requests.back();

  begin_anew();
  plot.window = kWindow;
  ASSERT_TRUE(start());
  ASSERT_FALSE(compactions().empty());
  EXPECT_NE(requests.back(), as_it_would_be);
  std::size_t undone = 0;
  while (say("", RunTask::undo_compaction)) ++undone;
  EXPECT_EQ(undone, compactions().size());
  plot.window = 1'000'000;
  ASSERT_TRUE(say("more"));
  EXPECT_EQ(requests.back(), as_it_would_be);
}

TEST_F(Compaction, OfTwoTheLastIsUndoneAndTheFirstStands) {
  plot.window = 1'000'000;
  plot.reads = 2;
  const auto begin = [this] {
    begin_anew();
    ASSERT_TRUE(start());
    ASSERT_TRUE(say("", RunTask::compact));
    ASSERT_TRUE(say("behind the summary"));
  };
  begin();
  ASSERT_TRUE(say("more"));
  const std::string as_it_would_be = requests.back();
  EXPECT_THAT(as_it_would_be, HasSubstr(kSummary));
  EXPECT_THAT(as_it_would_be, HasSubstr("behind the summary"));

  begin();
  ASSERT_TRUE(say("", RunTask::compact));
  ASSERT_EQ(compactions().size(), 2u);
  ASSERT_TRUE(say("", RunTask::undo_compaction));
  ASSERT_TRUE(say("more"));
  EXPECT_EQ(requests.back(), as_it_would_be);
}

// What the requests of a chat with a hosted model hold, in its own dialect.
std::vector<std::string> bodies_of(Tongue tongue, const ModelName& model,
                                   const std::vector<RunTask>& before_more) {
  const std::vector<Said> replies{{.calls = {{"c0", "Read", R"({"file_path":"f0.txt"})"}}}, {.text = "done"}};
  SimWorld world;
  world.script = R"({"v":1,"sessions":[{"replies":[{"text":"never asked"}]}]})";
  world.write_file("f0.txt", "words");
  std::vector<std::string> bodies;
  const auto server = [&](const HttpRequest& request) {
    bodies.push_back(request.body);
    return answer_in(tongue, replies[std::min(bodies.size(), replies.size()) - 1]);
  };
  const Life::Options options{
      .model = [&](Loop& loop) { return std::make_unique<HostedProvider>(loop, tongue, server, 200'000); }};
  {
    Life life(world, options);
    RootBrief root = life.brief("read it");
    root.model = model;
    EXPECT_TRUE(life.start(std::move(root)));
  }
  std::vector<NextInput> inputs;
  for (const RunTask task : before_more) inputs.push_back({.text = "", .task = task});
  inputs.push_back({.text = "more"});
  for (const NextInput& input : inputs) {
    Life life(world, options);
    const auto report = life.say(world.sessions().front().id, input);
    EXPECT_TRUE(report && report->status == Status::completed)
        << (report ? report->body : report.error().message);
  }
  return bodies;
}

TEST(CompactionInADialect, UndoneTheNextRequestIsWhatItWouldHaveBeen) {
  const std::pair<Tongue, ModelName> hosted[] = {{Tongue::anthropic, ModelName("anthropic/test")},
                                                 {Tongue::openai_responses, ModelName("openai/test")}};
  for (const auto& [tongue, model] : hosted) {
    SCOPED_TRACE(model.value);
    const auto plain = bodies_of(tongue, model, {});
    const auto undone = bodies_of(tongue, model, {RunTask::compact, RunTask::undo_compaction});
    const auto compacted = bodies_of(tongue, model, {RunTask::compact});
    ASSERT_EQ(plain.size(), 3u);
    ASSERT_EQ(undone.size(), 4u) << "what was asked for the summary is one more";
    EXPECT_EQ(undone.back(), plain.back());
    EXPECT_NE(compacted.back(), plain.back());
  }
}

TEST_F(Compaction, AStepThatPassesTheWindowAtOnceIsSummedUpFromResultsToldInPart) {
  plot.reads = plot.at_once = 14;
  const auto report = start();
  ASSERT_TRUE(report) << report.error().message;
  std::int64_t read = 0;
  for (const Event& event : kept->memory->journal) {
    if (const auto* finished = std::get_if<CallFinished>(&event.fact))
      read += tokens_in(finished->result.content);
  }
  ASSERT_GT(weighed.front().always + read, kWindow) << "or it would have fitted";
  EXPECT_EQ(report->status, Status::completed) << report->body;
  ASSERT_EQ(compactions().size(), 1u);
  EXPECT_TRUE(summary_in(compactions().front().reply));
  for (const Weighed& request : weighed) EXPECT_LE(request.tokens, kWindow);
  ASSERT_EQ(requests.size(), 3u);
  EXPECT_THAT(requests[1], HasSubstr("left out"));
  EXPECT_THAT(requests[1], HasSubstr("read them all"));
}

TEST_F(Compaction, OneThatWasUndoneAndHasPassedTheWindowCanBeCompactedAgain) {
  ASSERT_TRUE(start());
  while (say("", RunTask::undo_compaction)) {
  }
  const auto full = say("more");
  ASSERT_TRUE(full) << full.error().message;
  ASSERT_EQ(full->reason, Reason::context_exhausted);
  const auto compacted = say("", RunTask::compact);
  ASSERT_TRUE(compacted) << compacted.error().message;
  EXPECT_EQ(compacted->status, Status::completed) << compacted->body;
  const auto goes_on = say("more");
  ASSERT_TRUE(goes_on) << goes_on.error().message;
  EXPECT_EQ(goes_on->body, "done");
}

TEST_F(Compaction, ByThePersonsWishTheNextInputFollowsTheSummary) {
  plot.window = 1'000'000;
  plot.reads = 2;
  ASSERT_TRUE(start());
  ASSERT_TRUE(say("", RunTask::compact));
  ASSERT_TRUE(say("more"));
  EXPECT_THAT(requests.back(), StartsWith("main\nuser: The conversation so far was compacted."));
  EXPECT_THAT(requests.back(), testing::EndsWith("user: more\n"));
  EXPECT_THAT(requests.back(), Not(HasSubstr("word word")));
}

TEST_F(Compaction, IsWrittenByTheModelThatThePersonHasChosenSince) {
  plot.window = 1'000'000;
  plot.reads = 1;
  ASSERT_TRUE(start());
  {
    Life life(*kept, options());
    const NextInput wish{.text = "", .model = ModelName("small/y"), .task = RunTask::compact};
    ASSERT_TRUE(life.say(kept->sessions().front().id, wish));
  }
  ASSERT_EQ(compactions().size(), 1u);
  EXPECT_EQ(compactions().front().reply.model, ModelName("small/y"));
}

TEST_F(Compaction, OneThatWasUndoneDoesNotComeBackByItself) {
  const auto report = start();
  ASSERT_TRUE(report);
  const std::size_t before = compactions().size();
  ASSERT_GT(before, 0u);
  ASSERT_TRUE(say("", RunTask::undo_compaction));
  (void)say("more");
  EXPECT_EQ(compactions().size(), before);
}

TEST_F(Compaction, WhereThereIsNothingToDoNoRunBegins) {
  plot.window = 1'000'000;
  plot.reads = 1;
  ASSERT_TRUE(start());
  const auto nothing_to_undo = say("", RunTask::undo_compaction);
  ASSERT_FALSE(nothing_to_undo);
  EXPECT_THAT(nothing_to_undo.error().message, HasSubstr("no compaction to undo"));
  ASSERT_TRUE(say("", RunTask::compact));
  const auto records = kept->memory->journal.size();
  const auto nothing_new = say("", RunTask::compact);
  ASSERT_FALSE(nothing_new);
  EXPECT_THAT(nothing_new.error().message, HasSubstr("nothing to compact"));
  EXPECT_EQ(kept->memory->journal.size(), records);
}

TEST_F(Compaction, AModelThatGivesNoSummaryIsAskedForItOnceAndTheRunEndsAsItWould) {
  plot.sums_up = false;
  const auto report = start();
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->status, Status::partial);
  EXPECT_EQ(report->reason, Reason::context_exhausted);
  ASSERT_EQ(compactions().size(), 1u);
  EXPECT_FALSE(summary_in(compactions().front().reply));
  EXPECT_THAT(why_no_summary(compactions().front().reply), HasSubstr("asked for tools"));
}

TEST_F(Compaction, AChildEndsPartialUnlessItsProfileSaysOtherwise) {
  plot.hands_to = "worker";
  for (const bool is_chosen : {false, true}) {
    SCOPED_TRACE(is_chosen);
    begin_anew();
    profiles = {{.name = "worker", .tools = {"Read"}}};
    if (is_chosen) profiles.front().compact = true;
    ASSERT_TRUE(start());
    const Session* child = kept->session_labelled("worker");
    ASSERT_TRUE(child);
    EXPECT_EQ(child->state, is_chosen ? SessionState::completed : SessionState::partial);
    EXPECT_EQ(child->reason, is_chosen ? Reason::none : Reason::context_exhausted);
    EXPECT_EQ(compactions().empty(), !is_chosen);
  }
}

// The model says the same to the same request: so whatever is asked after a crash was asked without one.
TEST_F(Compaction, ResumedAfterACrashAtAnyRecordItTellsTheSameBytes) {
  ASSERT_TRUE(start());
  ASSERT_TRUE(say("", RunTask::compact));
  ASSERT_TRUE(say("", RunTask::undo_compaction));
  const auto reference = std::exchange(requests, {});
  const auto summed_up = compactions().size();
  ASSERT_GE(summed_up, 2u);

  const auto in_turn = [this](int which) {
    if (which == 0) return start();
    return say("", which == 1 ? RunTask::compact : RunTask::undo_compaction);
  };
  const std::tuple<int, bool> deaths[] = {{0, true},  {1, true},  {2, true},
                                          {0, false}, {1, false}, {2, false}};
  int crashes = 0;
  for (const auto& [dying, is_committed] : deaths) {
    for (int at = 1; at < 100; ++at) {
      SCOPED_TRACE("run " + std::to_string(dying) + ", record " + std::to_string(at) +
                   (is_committed ? "" : ", which is lost"));
      begin_anew();
      requests.clear();
      bool is_over = false;
      for (int which = 0; which < 3 && !is_over; ++which) {
        crash = which == dying ? CrashPoint{.at_record = at, .committed = is_committed} : CrashPoint{};
        seed = static_cast<std::uint64_t>(which) + 1;
        (void)in_turn(which);
        if (which != dying) continue;
        is_over = !has_crashed;
        crash = {};
        if (!has_crashed) break;
        ++crashes;
        seed = 100;
        if (kept->sessions().empty()) {
          ASSERT_TRUE(start());
        } else if (!is_terminal(kept->sessions().front().state)) {
          ASSERT_TRUE(resume());
        }
        if (kept->sessions().front().run <= which) (void)in_turn(which);  // it had not begun
      }
      for (const auto& request : requests) EXPECT_THAT(reference, Contains(request));
      EXPECT_LE(requests.size(), reference.size() + 1) << "only what was under way is asked for again";
      if (is_over) break;
      EXPECT_EQ(kept->sessions().front().state, SessionState::completed);
      EXPECT_EQ(kept->terminal_records(kept->sessions().front().id), 3);
    }
  }
  EXPECT_GT(crashes, 10);
}

}  // namespace
}  // namespace deputy
