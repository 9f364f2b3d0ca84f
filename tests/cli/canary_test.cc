// A provider's key is nowhere but in the request that needs it: not in what is kept, not in what is shown,
// not on a command line; whatever the server answers, and however it spells the key.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <atomic>
#include <fstream>

#include "base/json.h"
#include "deputy_program.h"
#include "provider_shape.h"
#include "support/loopback_server.h"

namespace deputy {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// With characters that every encoding changes.
constexpr std::string_view kCanary = "canary+7f3/a1b2?c3d4&e5f6=0718~293a4b5c";
constexpr std::string_view kUrlEncoded = "canary%2B7f3%2Fa1b2%3Fc3d4%26e5f6%3D0718~293a4b5c";

std::string base64(std::string_view bytes) {
  constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  unsigned bits = 0;
  unsigned count = 0;
  for (const unsigned char c : bytes) {
    bits = bits << 8U | c;
    for (count += 8; count >= 6; count -= 6) text += kLetters[bits >> (count - 6) & 63U];
  }
  return text;  // whole characters only: what follows would change the next one
}

// What the canary looks like at any place in an encoded text.
std::vector<std::string> spellings() {
  std::vector<std::string> all{std::string(kCanary), std::string(kUrlEncoded)};
  for (std::size_t before = 0; before < 3; ++before) {
    all.push_back(base64(std::string(before, 'x') + std::string(kCanary)).substr((before * 8 + 5) / 6));
  }
  return all;
}

bool holds_canary(std::string_view text) {
  return std::ranges::any_of(spellings(),
                             [&](const std::string& spelling) { return text.contains(spelling); });
}

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> command_lines_with_canary() {
  std::vector<std::string> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/proc", error)) {
    const std::string line = read_file(entry.path() / "cmdline");
    if (holds_canary(line)) found.push_back(entry.path());
  }
  return found;
}

class CanaryTest : public DeputyTest, public ::testing::WithParamInterface<ProviderShape> {
 protected:
  Ran run_against(const LoopbackServer& server, std::vector<std::string> words) {
    const ProviderShape& shape = GetParam();
    const std::string address = shape.provider == "ollama" ? server.address() : server.url(shape.path);
    words.insert(words.end(), {"--model", shape.provider + "/m"});
    return deputy(
        {.words = words,
         .input = {},
         .environment = {{shape.key_variable, std::string(kCanary)}, {shape.address_variable, address}},
         .current = {}});
  }
  // Files below the test's folders that hold it.
  std::vector<std::string> kept_canaries() const {
    std::vector<std::string> found;
    for (const auto& entry : fs::recursive_directory_iterator(root())) {
      if (entry.is_regular_file() && holds_canary(read_file(entry.path()))) found.push_back(entry.path());
    }
    return found;
  }
  void expect_no_trace(const Ran& ran) {
    EXPECT_FALSE(holds_canary(ran.out)) << ran.out;
    EXPECT_FALSE(holds_canary(ran.err)) << ran.err;
    EXPECT_THAT(kept_canaries(), IsEmpty());
    const std::string id = ran.out.substr(ran.out.find("sess_"), 22);
    for (const auto* view : {"export", "transcript", "show"}) {
      const auto shown = deputy({"sessions", view, id});
      EXPECT_EQ(shown.status, 0) << shown.err;
      EXPECT_FALSE(holds_canary(shown.out)) << shown.out;
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
    if (peer.read_request().contains(kCanary)) ++with_key_;
    EXPECT_THAT(command_lines_with_canary(), IsEmpty());
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
  return fmt::format("plain {} base64 {} url {}", kCanary, base64(kCanary), kUrlEncoded);
}

TEST_P(CanaryTest, AnErrorThatEchoesTheKeyLeavesNoTrace) {
  const std::string body = to_json_text(json::object{
      {"type", "error"},
      {"error",
       {{"type", "invalid_request_error"}, {"status", "INVALID_ARGUMENT"}, {"message", all_spellings()}}}});
  EchoingServer server({response("503 " + std::string(kCanary), "application/json", body),
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
  EXPECT_THAT(kept_canaries(), IsEmpty());
  for (const auto& spelling :
       {std::string(kCanary), std::string(kUrlEncoded), base64(kCanary), base64("x" + std::string(kCanary)),
        base64("user:" + std::string(kCanary) + "@")}) {
    write(home() / "found", "some text " + spelling + " and more");
    EXPECT_EQ(kept_canaries().size(), 1U) << spelling;
  }
  const auto waiting = start({"run", "--model", script(R"({"v":1,"sessions":[{"replies":[
      {"text":"late","first_byte_ms":600000}]}]})"),
                              "--output", "stream-json", std::string(kCanary)});
  waiting->read_until("session");  // it runs
  EXPECT_EQ(command_lines_with_canary().size(), 1U);
}

}  // namespace
}  // namespace deputy
