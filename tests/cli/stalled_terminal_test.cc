// A terminal whose reader stops, as by Ctrl-S or a connection that stands still: work goes on.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "deputy_program.h"

namespace deputy {
namespace {

using ::testing::HasSubstr;

class StalledTerminal : public DeputyTest {
 protected:
  // Says far more than a terminal takes that nobody reads.
  std::string talkative() {
    std::string replies = R"({"text":"half way","calls":[{"name":"Note","arguments":{"content":"first"}}]},)";
    for (int reply = 0; reply < 8; ++reply) {
      std::string text;
      for (int line = 0; line < 200; ++line) text += fmt::format("Line {} of {}.\\n\\n", line, reply);
      replies += fmt::format(R"({{"text":"{}","calls":[{{"name":"Note","arguments":{{"content":"{}"}}}}]}},)",
                             text, reply);
    }
    return script(R"({"v":1,"sessions":[{"replies":[)" + replies + R"({"text":"All told."}]}]})");
  }
};

TEST_F(StalledTerminal, AChatGoesOnAndShowsAllOfItOnceTheTerminalTakesIt) {
  auto chat = chat_on_terminal({"--model", talkative()});
  chat->read_screen_until("❯");
  chat->type("go\r");
  chat->read_screen_until("half way");
  // Ends with the run; would wait for ever where that waits for the terminal.
  const auto followed = deputy({"sessions", "tail", "newest"});
  EXPECT_EQ(followed.status, 0) << followed.err;
  EXPECT_THAT(chat->read_screen_until("All told."), HasSubstr("Line 199 of 7."));
  chat->type("/quit\r");
  chat->read_screen_until("Kept as sess_");
  EXPECT_EQ(chat->wait().status, 0);
}

}  // namespace
}  // namespace deputy
