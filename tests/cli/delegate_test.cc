// `deputy delegate`: the batch on stdout and nothing else, exit status by its children, everything kept where
// it belongs.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include "base/json.h"
#include "deputy_program.h"

namespace deputy {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr std::string_view kScript = R"({"v":1,"sessions":[
  {"match":{"label":"ok"},"replies":[
    {"calls":[{"name":"Note","arguments":{"content":"seen"}}],"usage":{"input":1000,"output":10}},
    {"text":"all is well","usage":{"input":2000,"output":20}}]},
  {"match":{"label":"full"},"replies":[
    {"calls":[{"name":"Note","arguments":{"content":"half of it"}}]},
    {"error":{"kind":"context_exhausted"}}]},
  {"match":{"label":"bad"},"replies":[{"error":{"kind":"failed","message":"no luck"}}]},
  {"match":{"agent":"reader"},"replies":[{"text":"done"}]}]})";

class DelegateTest : public DeputyTest {
 protected:
  // The tasks carry the labels of the script, which decide how they end.
  Ran delegate(const std::vector<std::string>& labels, std::vector<std::string> further = {}) {
    std::vector<std::string> words{"delegate", "--model", script(kScript)};
    for (const auto& label : labels) words.insert(words.end(), {"--task", label + "=go on"});
    words.insert(words.end(), further.begin(), further.end());
    return deputy(words);
  }
  std::vector<fs::path> kept(std::string_view ending) const {
    std::vector<fs::path> found;
    for (const auto& name : files_below(home() / "subagent")) {
      if (name.ends_with(ending)) found.push_back(home() / "subagent" / name);
    }
    return found;
  }
  static unsigned mode_of(const fs::path& path) {
    return static_cast<unsigned>(fs::status(path).permissions());
  }
};

TEST_F(DelegateTest, AllOkIsZeroAndStdoutHoldsTheBatchAlone) {
  const auto ran = delegate({"ok", "fine"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(ran.out,
            "## Subagents complete: 2/2\n"
            "\n### [ok] ✓\n**Usage**: in=3,000 out=30\n\nall is well\n"
            "\n### [fine] ✓\n" +
                ran.out.substr(ran.out.find("**Usage**", ran.out.find("[fine]"))));
  EXPECT_THAT(ran.err, AllOf(HasSubstr("[ok] started\n"), HasSubstr("[ok] note: seen\n"),
                             HasSubstr("[ok] ✓ complete (in=3k out=30)\n")));
}

TEST_F(DelegateTest, TheExitStatusTellsHowTheBatchWent) {
  EXPECT_EQ(delegate({"ok"}).status, 0);
  EXPECT_EQ(delegate({"ok", "bad"}).status, 3);
  EXPECT_EQ(delegate({"full"}).status, 3);
  EXPECT_EQ(delegate({"full", "bad"}).status, 3);
  EXPECT_EQ(delegate({"bad", "bad"}).status, 1);
}

TEST_F(DelegateTest, WhatWasFoundBeforeTheEndIsKept) {
  const auto ran = delegate({"full", "bad"});
  EXPECT_THAT(ran.out, AllOf(HasSubstr("[full] ⚠️ partial (context exhausted)"), HasSubstr("half of it"),
                             HasSubstr("[bad] ✗ error"), HasSubstr("no luck")));
}

TEST_F(DelegateTest, ReturnAndOutputShapeTheResult) {
  auto batch = parse_json_object(delegate({"ok", "bad"}, {"--return", "json"}).out);
  ASSERT_TRUE(batch);
  EXPECT_EQ(integer_at(*batch, "completed"), 1);
  EXPECT_EQ(integer_at(*batch, "total"), 2);

  auto wrapped = parse_json_object(delegate({"ok"}, {"--return", "json", "--output", "json"}).out);
  ASSERT_TRUE(wrapped);
  EXPECT_EQ(string_at(*wrapped, "status"), "completed");
  EXPECT_EQ(integer_at(*object_at(*wrapped, "result"), "completed"), 1);
  EXPECT_THAT(string_or(*wrapped, "session_id", ""), StartsWith("sess_"));
  EXPECT_EQ(integer_at(*object_at(*wrapped, "usage"), "input"), 3000);
  EXPECT_TRUE(integer_at(*wrapped, "duration_ms"));

  wrapped = parse_json_object(delegate({"bad"}, {"--output", "json"}).out);
  ASSERT_TRUE(wrapped);
  EXPECT_EQ(string_at(*wrapped, "status"), "failed");
  EXPECT_THAT(string_or(*wrapped, "result", ""), HasSubstr("no luck"));
}

TEST_F(DelegateTest, EventsAreStreamedAndTheResultComesLast) {
  const auto ran = delegate({"ok"}, {"--output", "stream-json"});
  std::vector<std::string> events;
  std::int64_t last_seq = 0;
  std::istringstream lines(ran.out);
  for (std::string line; std::getline(lines, line);) {
    const auto event = parse_json_object(line);
    ASSERT_TRUE(event) << line;
    events.push_back(string_or(*event, "event", ""));
    EXPECT_GE(integer_or(*event, "seq", last_seq), last_seq);
    last_seq = integer_or(*event, "seq", last_seq);
  }
  EXPECT_THAT(events,
              ::testing::IsSupersetOf({"session.created", "started", "step", "tokens", "tool_call", "note",
                                       "report", "completed", "session.completed", "cleaned"}));
  EXPECT_EQ(events.back(), "result");
}

TEST_F(DelegateTest, OddAndTwinLabelsWriteNothingOutsideTheStateFolder) {
  const auto ran = delegate({"../../x", "a b", "a b", ".hidden", "/etc/y"}, {"--concurrency", "4"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("[../../x] ✓"), HasSubstr("[a b] ✓")));
  EXPECT_THAT(ran.err, HasSubstr("[a b (2)]"));
  EXPECT_EQ(kept(".transcript.json").size(), 6U);  // the command's own among them
  for (const auto& name : files_below(root())) {
    const bool is_known = name.starts_with("home") || name.starts_with("streams") || name == "person" ||
                          name == "work" || name == "script.json";
    EXPECT_TRUE(is_known) << name;
  }
  for (const auto& name : files_below(home() / "subagent"))
    EXPECT_THAT(name, AllOf(Not(HasSubstr("/")), Not(StartsWith("."))));
}

TEST_F(DelegateTest, TranscriptsAreCompleteAndForTheirOwnerAlone) {
  ASSERT_EQ(delegate({"ok", "full"}).status, 3);
  EXPECT_EQ(mode_of(home()), 0700U);
  EXPECT_EQ(mode_of(home() / "subagent"), 0700U);
  for (const auto& name : files_below(home())) {
    if (fs::is_regular_file(home() / name)) EXPECT_EQ(mode_of(home() / name), 0600U) << name;
  }
  EXPECT_THAT(kept(".jsonl"), ::testing::IsEmpty());
  ASSERT_EQ(kept(".scratch.md").size(), 2U);
  for (const auto& file : kept(".transcript.json")) {
    if (!file.filename().string().starts_with("ok-")) continue;
    const auto transcript = parse_json_object(contents(file));
    ASSERT_TRUE(transcript);
    EXPECT_EQ(string_at(*transcript, "label"), "ok");
    EXPECT_EQ(string_at(*transcript, "outcome"), "success");
    EXPECT_EQ(integer_at(*object_at(*transcript, "usage"), "input"), 3000);
    const auto& messages = *array_at(*transcript, "messages");
    ASSERT_EQ(messages.size(), 4U);
    EXPECT_EQ(string_at(messages.back().as_object(), "content"), "all is well");
  }
}

TEST_F(DelegateTest, AMissingContextFileIsAnErrorOfItsTaskOnly) {
  write(work() / "a.txt", "context of a");
  const std::string tasks = R"({"tasks":[{"label":"ok","prompt":"p","context":["a.txt"]},
                                         {"label":"ok","prompt":"p","context":["none.txt"]}]})";
  const auto ran = deputy({.words = {"delegate", "--model", script(kScript), "--file", "-"}, .input = tasks});
  EXPECT_EQ(ran.status, 3);
  EXPECT_THAT(ran.out, AllOf(HasSubstr("1/2"), HasSubstr("none.txt")));
  EXPECT_EQ(delegate({"ok"}, {"--context", "none.txt"}).status, 1);
  EXPECT_EQ(delegate({"ok"}, {"--context", "a.txt"}).status, 0);
}

TEST_F(DelegateTest, EightTasksComeBackInInputOrder) {
  std::vector<std::string> labels;
  for (int i = 0; i < 8; ++i) labels.push_back("t" + std::to_string(i));
  const auto ran = delegate(labels, {"--concurrency", "4"});
  EXPECT_EQ(ran.status, 0);
  std::size_t at = 0;
  for (const auto& label : labels) {
    const auto found = ran.out.find("### [" + label + "]", at);
    ASSERT_NE(found, std::string::npos) << label;
    at = found;
  }
}

TEST_F(DelegateTest, ADeniedOrUnapprovedCommandIsRefused) {
  auto ran = delegate({"ok"}, {"--deny", "Delegate"});
  EXPECT_EQ(ran.status, 5);
  EXPECT_EQ(ran.out, "");
  EXPECT_THAT(ran.err, HasSubstr("Not permitted"));
  EXPECT_EQ(delegate({"ok"}, {"--ask", "Delegate"}).status, 5);
  EXPECT_EQ(delegate({"ok"}, {"--ask", "Delegate", "--yes"}).status, 0);
}

TEST_F(DelegateTest, ALimitThatRulesItOutIsARefusalThatNamesIt) {
  for (const auto* limit : {"--max-depth", "--max-delegations", "--max-children", "--max-live"}) {
    const auto ran = delegate({"ok"}, {limit, "0"});
    EXPECT_EQ(ran.status, 5) << limit;
    EXPECT_THAT(ran.err, HasSubstr(limit));
  }
  const auto ran = delegate({"ok", "ok"}, {"--max-delegations", "1"});
  EXPECT_EQ(ran.status, 3);
  EXPECT_THAT(ran.out, HasSubstr("budget exhausted"));
}

TEST_F(DelegateTest, RulesHoldForTheChildren) {
  const auto ran = delegate({"ok"}, {"--deny", "Note", "--output", "stream-json"});
  EXPECT_THAT(ran.out, Not(HasSubstr("\"event\":\"note\"")));
}

TEST_F(DelegateTest, AReaderThatGoesAwayBeforeTheResultChangesNothing) {
  auto running = start({"delegate", "--model", script(kScript), "--task", "ok=p"});
  running->close_stdout();
  const auto ran = running->wait();
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("[ok] ✓ complete"));
  ASSERT_EQ(kept(".transcript.json").size(), 2U);
}

TEST_F(DelegateTest, AScriptsLogIsWritten) {
  const auto log = root() / "log.jsonl";
  const auto model =
      script(R"({"v":1,"log":")" + log.string() + R"(","sessions":[{"replies":[{"text":"hi"}]}]})");
  EXPECT_EQ(deputy({"delegate", "--model", model, "--task", "a=p"}).status, 0);
  EXPECT_THAT(contents(log), HasSubstr("\"label\":\"a\""));
}

}  // namespace
}  // namespace deputy
