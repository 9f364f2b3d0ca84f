// The chat in plain lines on a real terminal.
#include <algorithm>
#include <filesystem>

#include "terminal_test.h"

namespace deputy {
namespace {

using ::testing::HasSubstr;

using PlainChatRealTime = TerminalTest;

TEST_F(PlainChatRealTime, PlainLinesThatWereTypedAheadAreTakenInTurn) {
  plain_chat(script(R"({"v":1,"sessions":[{"replies":[
    {"first_byte_ms":300,"text":"One is done."},{"first_byte_ms":300,"text":"Two is done."}]}]})"));
  tmux.type("one\ntwo\n/quit\nthree\n");
  expect_left(0);
  EXPECT_THAT(tmux.history(), HasSubstr("One is done."));
  EXPECT_THAT(tmux.history(), HasSubstr("Two is done."));
}

TEST_F(PlainChatRealTime, TheEndOfPlainInputLeavesInOrder) {
  plain_chat(script(R"({"v":1,"sessions":[{"replies":[{"first_byte_ms":300,"text":"One is done."}]}]})"));
  tmux.type("one\n");
  tmux.key("C-d");
  expect_left(0);
  EXPECT_THAT(tmux.history(), HasSubstr("One is done."));
}

TEST_F(PlainChatRealTime, PlainCommandsThatWereTypedAheadAreTakenInTurn) {
  plain_chat(script(R"({"v":1,"sessions":[{"replies":[
    {"first_byte_ms":300,"text":"Nice to meet you."},
    {"text":"They greeted.","expect":{"contains":"is compacted"}},
    {"text":"I know.","expect":{"contains":"They greeted."}}]}]})"));
  tmux.type("hello\n/compact\nremember\n/quit\n");
  expect_left(0);
  EXPECT_THAT(tmux.history(), HasSubstr("Compacted: a summary stands for the first 2 messages."));
  EXPECT_THAT(tmux.history(), HasSubstr("I know."));
}

TEST_F(PlainChatRealTime, TheEndOfPlainInputLeavesWhatWaitsForAnAnswer) {
  plain_chat(script(R"({"v":1,"sessions":[{"replies":[
    {"calls":[{"name":"Write","arguments":{"file_path":"a.txt","content":"x"}}]},{"text":"never"}]}]})"));
  tmux.type("write\n");
  tmux.wait_for("answer:");
  tmux.key("C-d");
  expect_left(130);
  EXPECT_FALSE(std::filesystem::exists(work() / "a.txt"));
}

TEST_F(PlainChatRealTime, APlainLineWithoutAnEndIsToldNotToBeTaken) {
  plain_chat(script(R"({"v":1,"sessions":[{"replies":[{"text":"never"}]}]})"));
  tmux.type("abc");
  tmux.key("C-d");
  tmux.key("C-d");
  tmux.wait_for("not taken, as no Enter followed it: abc");
  tmux.wait_until_ended();
  EXPECT_EQ(tmux.exit_status(), 0);
}

TEST_F(PlainChatRealTime, ADumbTerminalWithoutUtf8IsSentNothingButPlainText) {
  open({"--model", delegating("300")}, {{"TERM", "dumb"}, {"LC_ALL", "C"}});
  tmux.wait_for(">");
  const auto bytes = root() / "streams/bytes";
  tmux.record(bytes);
  tmux.type("go\n");
  tmux.wait_for("answer:");
  tmux.type("y\n");
  tmux.wait_for("Both have reported.");
  tmux.type("/quit\n");
  tmux.wait_for("Kept as sess_");
  const std::string written = contents(bytes);
  EXPECT_THAT(written, HasSubstr("[quick]"));
  EXPECT_TRUE(std::ranges::all_of(written, [](char byte) {
    return (byte >= ' ' && byte <= '~') || byte == '\n' || byte == '\r' || byte == '\t';
  })) << written;
}

}  // namespace
}  // namespace deputy
