// A conversation that grows until it no longer fits: every provider foresees it, and no request goes beyond
// the window.

#include <gtest/gtest.h>

#include <charconv>

#include "async/sim_loop.h"
#include "model/http_provider.h"
#include "model/tongues.h"
#include "support/run.h"

namespace deputy {
namespace {

constexpr std::int64_t kWindow = 8192;

// What the server takes a request to weigh.
std::int64_t counted(std::string_view body) { return static_cast<std::int64_t>(body.size()) / 4; }

// The output that a request asks for, under whichever name.
std::int64_t asked_output(std::string_view body) {
  for (const std::string_view name : {"\"max_tokens\":", "\"max_completion_tokens\":",
                                      "\"max_output_tokens\":", "\"maxOutputTokens\":", "\"num_predict\":"}) {
    const std::size_t at = body.find(name);
    if (at == std::string_view::npos) continue;
    std::int64_t number = 0;
    std::from_chars(body.data() + at + name.size(), body.data() + body.size(), number);
    return number;
  }
  return 0;
}

class SmallWindow : public testing::TestWithParam<Tongue> {
 protected:
  SmallWindow() {
    network_.define("http://model", [this](const HttpRequest& request) {
      bodies_.push_back(request.body);
      const std::string id = "call_" + std::to_string(bodies_.size());
      return answer_in(GetParam(), {.text = "I read on.",
                                    .calls = {{id, "Read", R"({"file_path":"a.txt"})"}},
                                    .input = counted(request.body),
                                    .output = 20});
    });
  }

  // Asks, reads, asks again, until something else than a call comes of it.
  Reply converse() {
    HttpProvider provider({.dialect = dialect_of(GetParam()),
                           .endpoint = {"http://model", "key"},
                           .key_variable = "",
                           .network = network_,
                           .loop = loop_,
                           .random = random_,
                           .governors = governors_,
                           .facts = [](const ModelName&) { return ModelFacts{.window = kWindow}; }});
    const auto prefix = std::make_shared<RequestPrefix>(
        RequestPrefix{.model = ModelName(std::string(provider.name()) + "/test"),
                      .system = "You read files and report what is in them.",
                      .tools = {{"Read", "Reads a file.",
                                 R"({"type":"object","properties":{"file_path":{"type":"string"}}})"}},
                      .max_output_tokens = 2000});
    std::vector<Message> messages{{.text = "What is in a.txt?"}};
    std::vector<std::string> fragments;
    std::optional<Measured> measured;
    for (int step = 0; step < 100; ++step) {
      while (fragments.size() < messages.size())
        fragments.push_back(provider.encode(messages[fragments.size()]));
      Reply reply = run(loop_, provider.ask({.prefix = prefix,
                                             .messages = messages,
                                             .fragments = fragments,
                                             .measured = measured,
                                             .label = {},
                                             .agent = {}},
                                            {}, {}));
      if (reply.stop != ReplyStop::calls) return reply;
      measured = Measured{messages.size(), reply.usage.input};
      messages.push_back(reply.message);
      Message results{.role = Role::tool};
      for (const Call& call : reply.message.calls)
        results.results.push_back({call.id, ToolStatus::ok, lines()});
      messages.push_back(results);
    }
    return {
        .stop = ReplyStop::finished, .model = {}, .message = {}, .usage = {}, .error = "it went on and on"};
  }

  static std::string lines() {
    std::string text;
    for (int i = 0; i < 30; ++i)
      text += "The quick brown fox jumps over the lazy dog, number " + std::to_string(i) + ".\n";
    return text;
  }

  SimLoop loop_{1};
  SimNetwork network_{loop_};
  SeededRandom random_{1};
  Governors governors_{loop_};
  std::vector<std::string> bodies_;
};

TEST_P(SmallWindow, EndsTheConversationBeforeItIsTooSmall) {
  const Reply reply = converse();
  EXPECT_EQ(reply.stop, ReplyStop::context_exhausted) << reply.error;
  EXPECT_TRUE(reply.error.contains("window of 8,192")) << reply.error;
  ASSERT_GE(bodies_.size(), 5u);
  for (const std::string& body : bodies_) {
    ASSERT_GT(asked_output(body), 0) << body;
    EXPECT_LE(counted(body) + asked_output(body), kWindow);
  }
  EXPECT_GE(counted(bodies_.back()), kWindow / 2);  // and not long before
}

INSTANTIATE_TEST_SUITE_P(Models, SmallWindow, testing::ValuesIn(kTongues), [](const auto& test) {
  std::string name(dialect_of(test.param)->provider());
  for (char& c : name) c = c == '-' ? '_' : c;
  return name;
});

}  // namespace
}  // namespace deputy
