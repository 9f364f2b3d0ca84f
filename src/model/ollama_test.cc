#include "model/ollama.h"

#include <gmock/gmock.h>

#include "base/json.h"
#include "model/outcome_text.h"
#include "model/reply_draft.h"
#include "net/sse.h"

namespace deputy {
namespace {

using api::outcome_text;
using testing::HasSubstr;
using testing::Not;

std::string line(std::string_view message) {
  return fmt::format(R"({{"created_at":"t","message":{},"done":false}})", message) + "\n";
}

const std::string kDone =
    R"({"message":{"content":""},"done":true,"done_reason":"stop","prompt_eval_count":7,"eval_count":3})"
    "\n";

std::expected<Reply, Failure> decode(std::string_view body) {
  const auto dialect = ollama_dialect();
  const auto decoder = dialect->decoder();
  decoder->feed(body, {});
  return decoder->finish();
}

std::string outcome_of(std::string_view body) { return outcome_text(decode(body)); }

TEST(OllamaDecoder, TextIsShownAsItComes) {
  const auto decoder = ollama_dialect()->decoder();
  std::string shown;
  const DeltaSink sink = [&](const Delta& delta) { shown += std::get<TextDelta>(delta).text; };
  EXPECT_FALSE(decoder->feed(R"({"message":{"content":"Hel)", sink)) << "half a line";
  EXPECT_TRUE(decoder->feed("lo\"}}\r\n", sink));
  EXPECT_EQ(shown, "Hello");
  EXPECT_FALSE(decoder->feed("\n", sink));
  EXPECT_TRUE(decoder->feed(kDone + line(R"({"content":"more"})"), sink));
  EXPECT_TRUE(decoder->is_complete());
  EXPECT_EQ(outcome_text(decoder->finish()), "finished 7/3/0/0\ntext: Hello");
}

TEST(OllamaDecoder, CallsComeWholeAndGetIds) {
  const auto reply = decode(
      line(
          R"({"thinking":"Hm.","tool_calls":[{"function":{"name":"Read","arguments":{"path":"a","n":1.5}}},{"function":{"name":"Read","arguments":{}}}]})") +
      line(R"({"tool_calls":[{"id":"call_x","function":{"index":2,"name":"List"}}]})") + kDone);
  ASSERT_TRUE(reply && reply->message.calls.size() == 3);
  EXPECT_EQ(reply->stop, ReplyStop::calls) << "though the reason is stop";
  EXPECT_EQ(reply->message.calls[0].arguments, R"({"path":"a","n":1.5})");
  EXPECT_NE(reply->message.calls[0].id, reply->message.calls[1].id);
  EXPECT_EQ(reply->message.calls[2], (Call{.id = "call_x", .name = "List", .arguments = "{}"}));
  EXPECT_THAT(ollama_dialect()->encode(reply->message),
              HasSubstr(R"("thinking":"Hm.","tool_calls":[{"id":")"));
  EXPECT_THAT(outcome_of(line(R"({"tool_calls":[{"function":{"arguments":{}}}]})") + kDone),
              HasSubstr("transient"));
}

TEST(OllamaDecoder, TheReasonSaysHowItEnded) {
  const auto ended = [](std::string_view reason) {
    return outcome_of(line(R"({"content":"Hi"})") +
                      fmt::format(R"({{"done":true,"done_reason":"{}"}})", reason));
  };
  EXPECT_THAT(ended("stop"), HasSubstr("finished")) << "without a line break too";
  EXPECT_THAT(ended("length"), HasSubstr("output_limit"));
  EXPECT_THAT(outcome_of(R"({"done":true,"done_reason":"load"})"), HasSubstr("transient"));
}

TEST(OllamaDecoder, ErrorsInsideAreTyped) {
  EXPECT_EQ(
      outcome_of(line(R"({"content":"Hi"})") + R"({"error":"the input length exceeds the context length"})"
                                               "\n"),
      "context_exhausted: the provider broke off: the input length exceeds the context length");
  EXPECT_THAT(outcome_of(R"({"error":"model runner has unexpectedly stopped"})"
                         "\n"),
              HasSubstr("transient"));
  EXPECT_THAT(outcome_of(R"({"error":"model requires more system memory (9 GiB) than is available"})"),
              HasSubstr("definite"));
}

TEST(OllamaDecoder, AnEndIsNeeded) {
  EXPECT_THAT(outcome_of(""), HasSubstr("transient"));
  EXPECT_THAT(outcome_of(line(R"({"content":"Hi"})")), HasSubstr("transient"));
  EXPECT_THAT(outcome_of("<html>\n" + kDone), HasSubstr("transient"));
}

TEST(OllamaDecoder, LimitsHold) {
  const auto with_calls = [](std::size_t count) {
    std::string body;
    for (std::size_t i = 0; i < count; ++i)
      body += line(R"({"tool_calls":[{"function":{"name":"Read","arguments":{}}}]})");
    return decode(body + kDone);
  };
  EXPECT_EQ(with_calls(api::kMostCalls)->message.calls.size(), api::kMostCalls);
  EXPECT_EQ(with_calls(api::kMostCalls + 1).error().kind, Failure::Kind::definite);
  const auto with_text = [](std::size_t bytes) {
    return decode(line(fmt::format(R"({{"content":"{}"}})", std::string(bytes, 'x'))) + kDone);
  };
  EXPECT_EQ(with_text(api::kMostBytes)->message.text.size(), api::kMostBytes);
  EXPECT_EQ(with_text(api::kMostBytes + 1).error().kind, Failure::Kind::definite);
  EXPECT_EQ(outcome_of(std::string(kMaxSseEventBytes, ' ') + "\n" + kDone), "finished 7/3/0/0\ntext: ");
  EXPECT_THAT(outcome_of(std::string(kMaxSseEventBytes + 1, ' ')), HasSubstr("definite"));
}

TEST(Ollama, ItIsToldNotToCutTheConversation) {
  const RequestPrefix prefix{
      .model = ModelName("ollama/qwen3:14b"), .system = "Be brief.", .max_output_tokens = 7};
  EXPECT_EQ(
      ollama_dialect()->encode(prefix).head,
      R"({"model":"qwen3:14b","stream":true,"truncate":false,"shift":false,"options":{"num_predict":7},"messages":[{"role":"system","content":"Be brief."},)");
  const auto dialect = ollama_dialect([](const ModelName&) { return 32768; });
  EXPECT_THAT(dialect->encode(prefix).head, HasSubstr(R"("options":{"num_ctx":32768,"num_predict":7})"));
}

TEST(Ollama, ArgumentsAreAlwaysAnObject) {
  const auto dialect = ollama_dialect();
  const auto arguments_sent = [&](std::string_view arguments) {
    const Message turn{.role = Role::assistant,
                       .calls = {{.id = "a", .name = "Read", .arguments = std::string(arguments)}}};
    return to_json_text(
        parse_json(dialect->encode(turn))->at("tool_calls").at(0).at("function").at("arguments"));
  };
  EXPECT_EQ(arguments_sent(R"({"path":"a"})"), R"({"path":"a"})");
  EXPECT_EQ(arguments_sent(""), "{}");
  EXPECT_EQ(arguments_sent("[1]"), R"({"invalid_arguments":"[1]"})");
  EXPECT_EQ(arguments_sent("{\"pa"), R"({"invalid_arguments":"{\"pa"})");
}

TEST(Ollama, AResultNamesItsToolAndItsCall) {
  EXPECT_EQ(
      ollama_dialect()->encode(
          Message{.role = Role::tool,
                  .results = {{.call_id = "a", .content = "x", .name = "Read"},
                              {.call_id = "b", .status = ToolStatus::error, .content = "y"}}}),
      R"({"role":"tool","tool_name":"Read","tool_call_id":"a","content":"x"},{"role":"tool","tool_call_id":"b","content":"Error: y"})");
}

TEST(Ollama, AnotherProvidersTurnIsBuiltAnew) {
  const Message turn{.role = Role::assistant,
                     .text = "Hi",
                     .thinking = "Hm.",
                     .wire = "compatible\n{\"reasoning\":\"Hm.\"}"};
  EXPECT_EQ(ollama_dialect()->encode(turn), R"({"role":"assistant","content":"Hi"})");
}

TEST(Ollama, EveryMessageIsAFragment) {
  for (const Role role : {Role::user, Role::assistant, Role::tool}) {
    EXPECT_TRUE(parse_json_object(ollama_dialect()->encode(Message{.role = role}))) << "an empty one too";
  }
}

TEST(Ollama, ItIsAskedInItsOwnTongue) {
  const HttpRequest request =
      ollama_dialect()->address(ModelName("ollama/x"), {.base_url = "http://127.0.0.1:11434"});
  EXPECT_EQ(request.url, "http://127.0.0.1:11434/api/chat");
  EXPECT_EQ(find_header(request.headers, "authorization"), std::nullopt);
  EXPECT_EQ(outcome_text(ollama_dialect()->failure(
                {.status = 404}, R"({"error":"model \"x\" not found, try pulling it first"})", {})),
            "definite: the provider answered 404: model \"x\" not found, try pulling it first; check the "
            "model's name and the base address");
}

}  // namespace
}  // namespace deputy
