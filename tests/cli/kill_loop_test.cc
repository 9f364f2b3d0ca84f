// kill -9 after every event that the program tells of, one after the other, each followed by a resume:
// nothing is lost, nothing is done twice. Which record the kill falls on is chance: real time, not CI.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <signal.h>

#include "base/json.h"
#include "deputy_program.h"

namespace deputy {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::string_view kScript = R"({"v":1,"sessions":[
  {"match":{"label":"a"},"replies":[
    {"calls":[{"name":"Read","arguments":{"file_path":"x"}},{"name":"Note","arguments":{"content":"of a"}}]},{"text":"a is done"}]},
  {"match":{"label":"b"},"replies":[
    {"calls":[{"name":"Note","arguments":{"content":"of b"}}]},{"text":"b is done"}]}]})";

class KillLoopRealTime : public DeputyTest {};

TEST_F(KillLoopRealTime, ATreeKilledAfterAnyEventIsResumedWhole) {
  write(work() / "x", "text\n");
  const std::vector<std::string> words{"delegate", "--model", script(kScript), "--output", "stream-json",
                                       "--task",   "a=p",     "--task",        "b=p"};
  int killed = 0;
  for (int lines = 1;; ++lines) {
    auto running = start(words);
    bool has_ended = false;
    for (int i = 0; i < lines && !has_ended; ++i) {
      const auto line = running->read_line();
      has_ended = !line || line->contains("\"event\":\"result\"");
    }
    running->send(SIGKILL);
    running->wait();
    if (has_ended) break;
    ++killed;
    const auto resumed = deputy({"resume"});
    if (resumed.err.contains("nothing was left unfinished")) continue;  // the kill came after its end
    ASSERT_EQ(resumed.status, 0) << "killed after line " << lines << ": " << resumed.err;
    ASSERT_THAT(resumed.out, AllOf(HasSubstr("2/2"), HasSubstr("a is done"), HasSubstr("b is done")));
    const auto listed = parse_json(deputy({"sessions", "ls", "--output", "json"}).out);
    ASSERT_TRUE(listed);
    const auto id = string_or(listed->as_array().front().as_object(), "id", "");
    const auto notes = deputy({"sessions", "notes", id}).out;
    EXPECT_EQ(notes.find("of a"), notes.rfind("of a")) << "a note was taken twice, line " << lines;
    EXPECT_TRUE(notes.contains("of b")) << "a note was lost, line " << lines;
  }
  EXPECT_GT(killed, 10) << "a run this short proves nothing";
  fmt::print("figures: killed after each of {} lines; nothing was lost, no note was taken twice\n", killed);
  for (const auto& file : files_below(home() / "subagent")) {
    EXPECT_FALSE(file.ends_with(".jsonl")) << file << " was not sealed";
  }
}

}  // namespace
}  // namespace deputy
