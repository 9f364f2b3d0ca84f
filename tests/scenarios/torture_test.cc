// Whichever start of a process, connection or write of a file of a tree, or of one that deputy keeps for it,
// fails: alone, or that one and all after it. Every session ends once, every call that began has one result,
// and what does not hang on it comes out the same. There is one place to run in: where it were lost, the tree
// would never end. What stands in a file whose write failed half way is for tests/calls.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <map>
#include <set>

#include "support/acting_model.h"
#include "support/hosted_provider.h"
#include "support/sim_world.h"

namespace deputy {
namespace {

using namespace std::chrono_literals;

const TreeLimits kOnePlace{.live_children = 1, .live_sessions = 1};

enum class Fails { alone, and_all_after };

// Counts what is asked for, and says when it fails.
struct Fault {
  int at = 0;  // the number of it, from 1; 0: none
  Fails how = Fails::alone;
  int asked = 0;

  bool next() {
    ++asked;
    return at > 0 && (how == Fails::alone ? asked == at : asked >= at);
  }
};

struct Outcome {
  std::optional<Report> report;
  std::map<std::string, Status> ended;  // by the call that made the session
  int errors = 0;                       // calls that ended in one
  int retries = 0;
  int asked = 0;
  int files = 0;  // that are there, of those that may fail
};

// What holds whatever has failed.
void expect_sound(const SimWorld& world, const Result<Report>& report, Outcome& outcome) {
  ASSERT_TRUE(report) << report.error().message;
  outcome.report = *report;
  std::set<CallId> begun;
  std::set<CallId> finished;
  for (const Event& event : world.memory->journal) {
    const CallId id{event.run, event.step, event.call};
    if (std::holds_alternative<CallStarted>(event.fact)) begun.insert(id);
    if (std::holds_alternative<Retried>(event.fact)) ++outcome.retries;
    if (const auto* result = std::get_if<CallFinished>(&event.fact)) {
      EXPECT_TRUE(finished.insert(id).second) << to_text(id) << " has a second result";
      if (result->result.status == ToolStatus::error) ++outcome.errors;
    }
    if (const auto* ended = std::get_if<RunEnded>(&event.fact)) {
      const auto& made_by = world.memory->sessions.at(event.run.session).delegation;
      const std::string place =
          made_by ? fmt::format("{}.{}.{}", made_by->call.step, made_by->call.index, made_by->task) : "root";
      EXPECT_TRUE(outcome.ended.emplace(place, ended->report->status).second) << place << " has ended twice";
      EXPECT_EQ(ended->report->status == Status::completed, ended->report->reason == Reason::none);
    }
  }
  for (const CallId& id : begun) EXPECT_TRUE(finished.contains(id)) << to_text(id) << " has no result";
  for (const Session& session : world.sessions()) {
    EXPECT_EQ(world.terminal_records(session.id), 1) << session.label;
    EXPECT_TRUE(is_terminal(session.state)) << session.label;
  }
}

// Two children run commands and search, and so does their parent.
Act play_with_commands(const Scene& scene) {
  const Call command = call_of("Bash", R"({"command":"make"})");
  const Call search = call_of("Grep", R"({"pattern":"one"})");
  if (scene.step == 0) return {.calls = {command, search}, .after = 1s};
  if (scene.depth == 0 && scene.step == 1) {
    return {.calls = {call_of("task", R"({"agent":"general","prompt":"first"})"),
                      call_of("spawn_subagent", R"({"agent":"general","task":"second"})")}};
  }
  if (scene.step == 1) return {.calls = {command}, .after = 1s};
  return {.text = "over"};
}

Outcome run_with_commands(Fault fault) {
  SimWorld world;
  world.script = R"({"v":1,"sessions":[{"replies":[{"text":"never asked"}]}]})";
  world.write_file("a.txt", "one\n");
  Life life(world, {.limits = kOnePlace, .model = [](Loop& loop) {
                      return std::make_unique<ActingModel>(loop, play_with_commands);
                    }});
  life.processes().define("bash", [](const ProcessSpec&) { return ProcessResult{.output = "made\n"}; });
  life.processes().define("rg", [](const ProcessSpec&) { return ProcessResult{.exit_status = 1}; });
  life.processes().set_fault([&fault]() -> Result<void> {
    if (!fault.next()) return {};
    return fail(ErrorCode::exhausted, "no process can be started: Resource temporarily unavailable");
  });
  RootBrief root = life.brief("go");
  root.model = ModelName("acting/test");
  const auto report = life.start(std::move(root));
  Outcome outcome;
  expect_sound(world, report, outcome);
  outcome.asked = fault.asked;
  return outcome;
}

TEST(Torture, WhicheverStartOfAProcessFailsItsCallSaysSoAndTheTreeGoesOn) {
  const Outcome whole = run_with_commands({});
  ASSERT_GE(whole.asked, 6) << "hardly a process is started: this proves nothing";
  ASSERT_EQ(whole.ended.size(), 3u);
  for (int at = 1; at <= whole.asked; ++at) {
    for (const Fails how : {Fails::alone, Fails::and_all_after}) {
      SCOPED_TRACE(
          fmt::format("start {} of {}{}", at, whole.asked, how == Fails::alone ? "" : ", and all after it"));
      const Outcome outcome = run_with_commands({at, how});
      if (testing::Test::HasFatalFailure()) return;
      EXPECT_EQ(outcome.report->status, Status::completed);
      EXPECT_EQ(outcome.ended, whole.ended);
      const int failed = how == Fails::alone ? 1 : whole.asked - at + 1;
      EXPECT_GT(outcome.errors, whole.errors);
      EXPECT_LE(outcome.errors, whole.errors + failed);
    }
  }
}

// A tree of which some files cannot be written.
Outcome run_writing(Act (*play)(const Scene&), bool (*may_fail)(std::string_view path), Fault fault) {
  SimWorld world;
  world.script = R"({"v":1,"sessions":[{"replies":[{"text":"never asked"}]}]})";
  Life life(world, {.limits = kOnePlace,
                    .model = [play](Loop& loop) { return std::make_unique<ActingModel>(loop, play); }});
  world.disk.set_fault([&fault, may_fail](std::string_view path) -> Result<void> {
    if (!may_fail(path) || !fault.next()) return {};
    return fail(ErrorCode::exhausted, fmt::format("{} cannot be written: No space left on device", path));
  });
  RootBrief root = life.brief("go");
  root.model = ModelName("acting/test");
  const auto report = life.start(std::move(root));
  world.disk.set_fault({});
  Outcome outcome;
  expect_sound(world, report, outcome);
  outcome.asked = fault.asked;
  for (const auto& [path, content] : world.disk.files()) outcome.files += may_fail(path) ? 1 : 0;
  return outcome;
}

// Two children write two files each, and their parent one.
Act play_with_files(const Scene& scene) {
  if (scene.depth == 0 && scene.step == 1) {
    return {.calls = {call_of("task", R"({"agent":"general","prompt":"ALPHA"})"),
                      call_of("spawn_subagent", R"({"agent":"general","task":"BETA"})")}};
  }
  if (scene.step == (scene.depth == 0 ? 2 : 1)) return {.text = "over"};
  const auto write = [&scene](std::string_view name) {
    const std::string_view whose = scene.depth == 0 ? "root" : (scene.heard.contains("BETA") ? "b" : "a");
    return call_of("Write", fmt::format(R"({{"file_path":"{}_{}.txt","content":"whole\n"}})", whose, name));
  };
  if (scene.depth == 0) return {.calls = {write("one")}, .after = 1s};
  return {.calls = {write("one"), write("two")}, .after = 1s};
}

Outcome run_with_files(Fault fault) {
  return run_writing(play_with_files, [](std::string_view path) { return path.ends_with(".txt"); }, fault);
}

TEST(Torture, WhicheverWriteOfAFileFailsItsCallSaysSoAndTheOthersAreMade) {
  const Outcome whole = run_with_files({});
  ASSERT_EQ(whole.files, 5);
  ASSERT_GE(whole.asked, whole.files);
  for (int at = 1; at <= whole.asked; ++at) {
    for (const Fails how : {Fails::alone, Fails::and_all_after}) {
      SCOPED_TRACE(
          fmt::format("write {} of {}{}", at, whole.asked, how == Fails::alone ? "" : ", and all after it"));
      const Outcome outcome = run_with_files({at, how});
      if (testing::Test::HasFatalFailure()) return;
      EXPECT_EQ(outcome.report->status, Status::completed);
      EXPECT_EQ(outcome.ended, whole.ended);
      EXPECT_GT(outcome.errors, whole.errors) << "nothing has failed";
      EXPECT_EQ(outcome.files + outcome.errors, whole.files + whole.errors);
    }
  }
}

// One child takes a note and reports more than its parent is shown, another breaks: their transcripts and
// notes, the whole report and the errors are files of the state folder.
Act play_with_own_files(const Scene& scene) {
  if (scene.depth == 0 && scene.step == 0) {
    return {.calls = {call_of(
                "Delegate",
                R"({"tasks":[{"label":"long","prompt":"tell"},{"label":"broken","prompt":"break"}]})")}};
  }
  if (scene.depth == 0) return {.text = "over"};
  if (scene.label == "broken") return {.after = 1s, .ends_as = ReplyStop::failed};
  if (scene.step == 0) return {.calls = {call_of("Note", R"({"content":"half way"})")}, .after = 1s};
  return {.text = std::string(ReportBounds().report_bytes + ReportBounds().batch_bytes, 'x')};
}

Outcome run_with_own_files(Fault fault) {
  return run_writing(
      play_with_own_files, [](std::string_view path) { return path.starts_with("/home/"); }, fault);
}

TEST(Torture, WhicheverWriteOfItsOwnFilesFailsATreeComesToTheSameEnd) {
  const Outcome whole = run_with_own_files({});
  ASSERT_GE(whole.asked, 6) << "a transcript each, begun and sealed";
  ASSERT_EQ(whole.ended.size(), 3u);
  for (int at = 1; at <= whole.asked; ++at) {
    for (const Fails how : {Fails::alone, Fails::and_all_after}) {
      SCOPED_TRACE(
          fmt::format("write {} of {}{}", at, whole.asked, how == Fails::alone ? "" : ", and all after it"));
      const Outcome outcome = run_with_own_files({at, how});
      if (testing::Test::HasFatalFailure()) return;
      EXPECT_EQ(outcome.report->body, "over");
      EXPECT_EQ(outcome.ended, whole.ended);
      EXPECT_EQ(outcome.errors, whole.errors);
    }
  }
}

// A root and two children behind HTTP, each with a step between its first and its last. The server answers by
// what the conversation holds: a request that never arrived changes nothing.
constexpr std::string_view kRoot = "ROOT-TASK";
constexpr std::string_view kMarked = "the file says";

Said said_to(const std::string& body) {
  if (body.contains(kRoot)) {
    if (body.contains("Subagents complete")) return {.text = "They are done."};
    return {
        .text = "I ask.",
        .calls = {{"call_d", "Delegate",
                   R"({"tasks":[{"label":"a","prompt":"CHILD one"},{"label":"b","prompt":"CHILD two"}]})"}}};
  }
  if (body.contains(kMarked)) return {.text = "It is read."};
  return {.text = "I look.", .calls = {{"call_r", "Read", R"({"file_path":"a.txt"})"}}};
}

Outcome run_with_connections(Fault fault) {
  SimWorld world;
  world.script = R"({"v":1,"sessions":[{"replies":[{"text":"never asked"}]}]})";
  world.write_file("a.txt", std::string(kMarked) + " one\n");
  Life life(world, {.limits = kOnePlace, .model = [&fault](Loop& loop) {
                      return std::make_unique<HostedProvider>(
                          loop, Tongue::anthropic,
                          [&fault](const HttpRequest& request) {
                            if (fault.next()) return SimExchange{.fault = SimFault::refused};
                            return answer_in(Tongue::anthropic, said_to(request.body));
                          },
                          200'000);
                    }});
  RootBrief root = life.brief(std::string(kRoot));
  root.model = ModelName("anthropic/test");
  const auto report = life.start(std::move(root));
  Outcome outcome;
  expect_sound(world, report, outcome);
  outcome.asked = fault.asked;
  return outcome;
}

TEST(Torture, WhicheverConnectionFailsIsMadeAgain) {
  const Outcome whole = run_with_connections({});
  ASSERT_EQ(whole.asked, 6) << "two requests each";
  ASSERT_EQ(whole.retries, 0);
  for (int at = 1; at <= whole.asked; ++at) {
    SCOPED_TRACE(fmt::format("connection {} of {}", at, whole.asked));
    const Outcome outcome = run_with_connections({at, Fails::alone});
    if (testing::Test::HasFatalFailure()) return;
    EXPECT_EQ(outcome.report->body, "They are done.");
    EXPECT_EQ(outcome.ended, whole.ended);
    EXPECT_EQ(outcome.retries, 1);
    EXPECT_EQ(outcome.asked, whole.asked + 1);
  }
}

TEST(Torture, FromWhicheverConnectionOnNoneComesAboutEachSessionEndsOnce) {
  const Outcome whole = run_with_connections({});
  for (int at = 1; at <= whole.asked; ++at) {
    SCOPED_TRACE(fmt::format("from connection {} of {} on", at, whole.asked));
    const Outcome outcome = run_with_connections({at, Fails::and_all_after});
    if (testing::Test::HasFatalFailure()) return;
    // Its last request did not arrive.
    EXPECT_NE(outcome.report->status, Status::completed);
    ASSERT_FALSE(outcome.report->errors.empty());
    EXPECT_FALSE(outcome.report->errors.front().message.empty());
    EXPECT_LE(outcome.ended.size(), whole.ended.size());
  }
}

}  // namespace
}  // namespace deputy
