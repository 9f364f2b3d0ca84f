// A provider's key is nowhere but in the request that needs it: not in what is kept, not in what is shown,
// not on a command line; whatever the server answers, and however it spells the key.
#include "support/canary.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <atomic>

#include "base/json.h"
#include "deputy_program.h"
#include "provider_shape.h"
#include "support/loopback_server.h"

namespace deputy {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Another than the one of all tests: here it is used, and echoed.
const Canary& canary() {
  static const Canary one("canary+7f3/a1b2?c3d4&e5f6=0718~293a4b5c",
                          "canary%2B7f3%2Fa1b2%3Fc3d4%26e5f6%3D0718~293a4b5c");
  return one;
}

class CanaryTest : public DeputyTest, public ::testing::WithParamInterface<ProviderShape> {
 protected:
  Ran run_against(const LoopbackServer& server, std::vector<std::string> words) {
    const ProviderShape& shape = GetParam();
    const std::string address = shape.provider == "ollama" ? server.address() : server.url(shape.path);
    words.insert(words.end(), {"--model", shape.provider + "/m"});
    return deputy({.words = words,
                   .input = {},
                   .environment = {{shape.key_variable, canary().key()}, {shape.address_variable, address}},
                   .current = {}});
  }
  void expect_no_trace(const Ran& ran) {
    EXPECT_FALSE(canary().is_in(ran.out)) << ran.out;
    EXPECT_FALSE(canary().is_in(ran.err)) << ran.err;
    EXPECT_THAT(canary().files_below(root()), IsEmpty());
    const std::string id = ran.out.substr(ran.out.find("sess_"), 22);
    for (const auto* view : {"export", "transcript", "show"}) {
      const auto shown = deputy({"sessions", view, id});
      EXPECT_EQ(shown.status, 0) << shown.err;
      EXPECT_FALSE(canary().is_in(shown.out)) << shown.out;
    }
  }
};

// Gives each connection the next of the answers, and looks around while the program waits for it.
class EchoingServer {
 public:
  explicit EchoingServer(std::vector<std::string> answers)
      : answers_(std::move(answers)), server_([this](Peer& peer) { play(peer); }) {}
  const LoopbackServer& server() const { return server_; }
  // How many requests came with the key.
  int finish() {
    server_.finish();
    return with_key_;
  }

 private:
  void play(Peer& peer) {
    if (peer.read_request().contains(canary().key())) ++with_key_;
    EXPECT_THAT(canary().command_lines(), IsEmpty());
    const std::size_t turn = turn_++;
    if (turn < answers_.size()) peer.write(answers_[turn]);
  }
  std::vector<std::string> answers_;
  std::atomic<std::size_t> turn_ = 0;
  std::atomic<int> with_key_ = 0;
  LoopbackServer server_;
};

std::string response(std::string_view status, std::string_view type, std::string_view body) {
  return fmt::format("HTTP/1.1 {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{}",
                     status, type, body.size(), body);
}

std::string all_spellings() {
  return fmt::format("plain {} base64 {} url {}", canary().key(), Canary::base64(canary().key()),
                     canary().url_encoded());
}

TEST_P(CanaryTest, AnErrorThatEchoesTheKeyLeavesNoTrace) {
  const std::string body = to_json_text(json::object{
      {"type", "error"},
      {"error",
       {{"type", "invalid_request_error"}, {"status", "INVALID_ARGUMENT"}, {"message", all_spellings()}}}});
  EchoingServer server({response("503 " + canary().key(), "application/json", body),
                        response("401 Unauthorized", "application/json", body)});
  const auto ran =
      run_against(server.server(), {"delegate", "--task", "a=go on", "--output", "stream-json", "-v"});
  EXPECT_EQ(ran.status, 1) << ran.err;
  EXPECT_EQ(server.finish(), 2) << "the key never reached the server: this test shows nothing";
  EXPECT_THAT(ran.out, HasSubstr("plain [redacted]")) << "the server's words are told, without the key";
  expect_no_trace(ran);
}

INSTANTIATE_TEST_SUITE_P(Shapes, CanaryTest, every_shape(), name_of_shape);

class CanaryInRepliesTest : public CanaryTest {};

TEST_P(CanaryInRepliesTest, AModelThatRepeatsTheKeyLeavesNoTrace) {
  const auto chunk = [](json::object delta, json::value finish) {
    return "data: " +
           to_json_text(json::object{
               {"choices",
                {{{"index", 0}, {"delta", std::move(delta)}, {"finish_reason", std::move(finish)}}}}}) +
           "\n\n";
  };
  const std::string note = to_json_text(json::object{{"content", "a note: " + all_spellings()}});
  const std::string calls = chunk({{"content", all_spellings()},
                                   {"tool_calls",
                                    {{{"index", 0},
                                      {"id", "c1"},
                                      {"type", "function"},
                                      {"function", {{"name", "Note"}, {"arguments", note}}}}}}},
                                  nullptr) +
                            chunk({}, "tool_calls") + "data: [DONE]\n\n";
  const std::string text =
      chunk({{"content", "the key is " + all_spellings()}}, nullptr) + chunk({}, "stop") + "data: [DONE]\n\n";
  EchoingServer server(
      {response("200 OK", "text/event-stream", calls), response("200 OK", "text/event-stream", text)});
  const auto ran =
      run_against(server.server(), {"delegate", "--task", "a=go on", "--output", "stream-json", "-v"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(server.finish(), 2);
  expect_no_trace(ran);
}

INSTANTIATE_TEST_SUITE_P(Shapes, CanaryInRepliesTest, ::testing::Values(kCompatibleShape), name_of_shape);

// A search that finds nothing must be able to find something.
TEST_F(CanaryTest, TheSearchFindsWhatIsThere) {
  EXPECT_THAT(canary().files_below(root()), IsEmpty());
  const std::string& key = canary().key();
  for (const auto& spelling : {key, canary().url_encoded(), Canary::base64(key), Canary::base64("x" + key),
                               Canary::base64("user:" + key + "@")}) {
    write(home() / "found", "some text " + spelling + " and more");
    EXPECT_EQ(canary().files_below(root()).size(), 1U) << spelling;
  }
  const auto waiting = start({"run", "--model", script(R"({"v":1,"sessions":[{"replies":[
      {"text":"late","first_byte_ms":600000}]}]})"),
                              "--output", "stream-json", key});
  waiting->read_until("session");  // it runs
  EXPECT_EQ(canary().command_lines().size(), 1U);
}

}  // namespace
}  // namespace deputy
