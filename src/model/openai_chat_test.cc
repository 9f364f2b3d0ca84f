#include "model/openai_chat.h"

#include <gmock/gmock.h>

#include "base/json.h"
#include "model/outcome_text.h"
#include "model/reply_draft.h"

namespace deputy {
namespace {

using api::outcome_text;
using testing::HasSubstr;
using testing::Not;

std::string framed(std::string_view json) { return fmt::format("data: {}\n\n", json); }

std::string chunk(std::string_view delta, std::string_view finish = "null") {
  return framed(
      fmt::format(R"({{"id":"r1","choices":[{{"index":0,"delta":{},"finish_reason":{}}}]}})", delta, finish));
}

std::string call(std::string_view piece) { return chunk(fmt::format(R"({{"tool_calls":[{}]}})", piece)); }

const std::string kStop = chunk("{}", R"("stop")");
const std::string kDone = "data: [DONE]\n\n";

std::expected<Reply, Failure> decode(std::string_view body, ChatFlavour flavour = ChatFlavour::compatible) {
  const auto dialect = openai_chat_dialect(flavour);
  const auto decoder = dialect->decoder();
  decoder->feed(body, {});
  return decoder->finish();
}

std::string outcome_of(std::string_view body) { return outcome_text(decode(body)); }

TEST(OpenAiChatDecoder, TextIsShownAsItComes) {
  const auto decoder = openai_chat_dialect(ChatFlavour::openai)->decoder();
  std::string shown;
  const DeltaSink sink = [&](const Delta& delta) { shown += std::get<TextDelta>(delta).text; };
  EXPECT_FALSE(decoder->feed(": keep-alive\n\n", sink)) << "a comment is no progress";
  EXPECT_TRUE(decoder->feed(chunk(R"({"content":"Hel"})"), sink));
  EXPECT_EQ(shown, "Hel");
  EXPECT_FALSE(decoder->is_complete());
  EXPECT_TRUE(decoder->feed(chunk(R"({"content":"lo"})") + kStop + kDone, sink));
  EXPECT_EQ(shown, "Hello");
  EXPECT_TRUE(decoder->is_complete());
  EXPECT_FALSE(decoder->feed(chunk(R"({"content":"!"})"), sink)) << "nothing is read past the end";
  EXPECT_EQ(outcome_text(decoder->finish()), "finished 0/0/0/0\ntext: Hello");
}

TEST(OpenAiChatDecoder, AChunkThatSaysNothingShowsNoProgressButTheFirst) {
  const auto decoder = openai_chat_dialect(ChatFlavour::compatible)->decoder();
  const std::string empty = chunk(R"({"role":"assistant","content":""})");
  EXPECT_TRUE(decoder->feed(empty, {})) << "it has begun";
  EXPECT_FALSE(decoder->feed(empty, {}));
  EXPECT_FALSE(decoder->feed(chunk("{}"), {}));
  EXPECT_FALSE(decoder->feed("data: {\"choices\":[]}\n\n", {}));
  const std::string counts = "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":9}}\n\n";
  EXPECT_TRUE(decoder->feed(counts, {}));
  EXPECT_FALSE(decoder->feed(counts, {})) << "the same count once more";
  EXPECT_TRUE(decoder->feed(chunk(R"({"content":"Hi"})"), {}));
  EXPECT_TRUE(decoder->feed(kStop, {}));
  EXPECT_EQ(outcome_text(decoder->finish()), "finished 9/0/0/0\ntext: Hi");
}

TEST(OpenAiChatDecoder, PiecesOfParallelCallsAreJoinedByTheirIndex) {
  EXPECT_EQ(
      outcome_of(call(R"({"index":0,"id":"call_aaaa","function":{"name":"Read","arguments":""}})") +
                 call(R"({"index":1,"id":"call_bbbb","function":{"name":"List","arguments":"{\"x\""}})") +
                 call(R"({"index":0,"function":{"arguments":"{\"y\""}})") +
                 call(R"({"index":1,"function":{"arguments":":1}"}})") +
                 call(R"({"index":0,"function":{"arguments":":2}"}})") + kStop + kDone),
      "calls 0/0/0/0\ntext: \ncall call_aaaa Read {\"y\":2}\ncall call_bbbb List {\"x\":1}");
}

TEST(OpenAiChatDecoder, NullsAreNothing) {
  EXPECT_EQ(
      outcome_of(
          chunk(R"({"role":"assistant","content":null,"refusal":null,"tool_calls":null,"reasoning":null})") +
          call(
              R"({"index":0,"id":"call_aaaa","type":"function","function":{"name":"Read","arguments":null}})") +
          call(R"({"index":0,"id":null,"type":null,"function":{"name":null,"arguments":"{}"}})") +
          framed(R"({"error":null,"choices":null,"usage":null})") + kStop + kDone),
      "calls 0/0/0/0\ntext: \ncall call_aaaa Read {}");
}

TEST(OpenAiChatDecoder, IdsAreMadeWhereTheyAreMissingOrTheSame) {
  const auto reply = decode(
      call(R"({"index":0,"function":{"name":"Read","arguments":"{}"}})") +
      call(R"({"index":1,"id":"call_xxxx","function":{"name":"Read","arguments":"{}"}})") +
      call(R"({"index":2,"id":"call_xxxx","function":{"name":"Read","arguments":"{}"}})") + kStop + kDone);
  ASSERT_TRUE(reply && reply->message.calls.size() == 3);
  const auto& calls = reply->message.calls;
  EXPECT_TRUE(calls[0].id.starts_with("call_"));
  EXPECT_EQ(calls[1].id, "call_xxxx");
  EXPECT_TRUE(calls[2].id.starts_with("call_"));
  EXPECT_NE(calls[0].id, calls[2].id);
  const auto later = decode(
      framed(
          R"({"id":"r2","choices":[{"delta":{"tool_calls":[{"function":{"name":"Read","arguments":"{}"}}]}}]})") +
      kDone);
  ASSERT_TRUE(later && later->message.calls.size() == 1);
  EXPECT_NE(later->message.calls[0].id, calls[0].id) << "another reply, another id";
}

TEST(OpenAiChatDecoder, IdsThatOtherRepliesWillHaveTooAreReplaced) {
  for (const char* id : {"0", "call_0", "Read:0"}) {
    const auto reply =
        decode(call(fmt::format(R"({{"index":0,"id":"{}","function":{{"name":"Read"}}}})", id)) + kDone);
    ASSERT_TRUE(reply && reply->message.calls.size() == 1) << id;
    EXPECT_EQ(reply->message.calls[0].id.size(), 17U) << id;
  }
  EXPECT_THAT(outcome_of(call(R"({"index":0,"id":"functions.Read:0","function":{"name":"Read"}})") + kDone),
              HasSubstr("call functions.Read:0 Read {}"))
      << "Kimi counts over the whole conversation, and wants its own form";
}

TEST(OpenAiChatDecoder, WithoutAnIndexANewIdOrNameBeginsACall) {
  EXPECT_EQ(
      outcome_of(call(R"({"id":"call_aaaa","function":{"name":"Read","arguments":"{\"x\":"}})") +
                 call(R"({"function":{"arguments":"1}"}})") +
                 call(R"({"id":"call_bbbb","function":{"name":"Read","arguments":"{}"}})") + kStop + kDone),
      "calls 0/0/0/0\ntext: \ncall call_aaaa Read {\"x\":1}\ncall call_bbbb Read {}");
  const auto nameless =
      decode(call(R"({"function":{"name":"Read","arguments":"{}"}})") +
             call(R"({"function":{"name":"List","arguments":{"deep":true}}})") + kStop + kDone);
  ASSERT_TRUE(nameless && nameless->message.calls.size() == 2);
  EXPECT_EQ(nameless->message.calls[1].arguments, R"({"deep":true})") << "an object is taken too";
}

TEST(OpenAiChatDecoder, CallsThatAllHaveIndexZeroAreToldApartByTheirIds) {
  EXPECT_EQ(
      outcome_of(call(R"({"index":0,"id":"call_aaaa","function":{"name":"Read","arguments":"{\"x\":1}"}})") +
                 call(R"({"index":0,"id":"call_bbbb","function":{"name":"Read","arguments":"{\"x\":"}})") +
                 call(R"({"index":0,"function":{"arguments":"2}"}})") + kStop + kDone),
      "calls 0/0/0/0\ntext: \ncall call_aaaa Read {\"x\":1}\ncall call_bbbb Read {\"x\":2}");
}

TEST(OpenAiChatDecoder, ACallWithoutANameIsAskedForAgain) {
  EXPECT_THAT(
      outcome_of(call(R"({"index":0,"id":"call_aaaa","function":{"arguments":"{}"}})") + kStop + kDone),
      HasSubstr("transient"));
}

TEST(OpenAiChatDecoder, TheReasonSaysHowItEnded) {
  const std::string said = chunk(R"({"content":"Hi"})");
  const std::string called =
      call(R"({"index":0,"id":"call_aaaa","function":{"name":"Read","arguments":"{\"pa"}})");
  EXPECT_THAT(outcome_of(said + chunk("{}", R"("length")") + kDone), HasSubstr("output_limit"));
  EXPECT_THAT(outcome_of(called + chunk("{}", R"("length")") + kDone), HasSubstr("output_limit"))
      << "and nobody has to answer half a call";
  EXPECT_THAT(outcome_of(said + chunk("{}", R"("content_filter")") + kDone), HasSubstr("refused"));
  EXPECT_THAT(outcome_of(called + chunk("{}", R"("content_filter")") + kDone), HasSubstr("refused"));
  EXPECT_THAT(outcome_of(said + chunk("{}", R"("model_length")") + kDone), HasSubstr("context_exhausted"));
  EXPECT_THAT(outcome_of(said + chunk("{}", R"("error")") + kDone), HasSubstr("transient"));
  EXPECT_THAT(outcome_of(called + chunk("{}", R"("tool_calls")") + kDone), HasSubstr("calls 0/0"))
      << "whole as far as the server knows";
  EXPECT_THAT(outcome_of(said + chunk("{}", R"("new_reason")") + kDone), HasSubstr("finished"));
  EXPECT_EQ(outcome_of(chunk(R"({"refusal":"I can"})") + chunk(R"({"refusal":"not."})") + kStop + kDone),
            "refused 0/0/0/0\ntext: \nerror: the provider declined to answer: I cannot.; put the task "
            "differently or choose another model");
}

TEST(OpenAiChatDecoder, AnEndIsNeeded) {
  const std::string said = chunk(R"({"content":"Hi"})");
  EXPECT_THAT(outcome_of(""), HasSubstr("transient"));
  EXPECT_THAT(outcome_of("<html>Welcome to the hotel</html>"), HasSubstr("transient"));
  EXPECT_THAT(outcome_of(said), HasSubstr("transient"));
  EXPECT_THAT(outcome_of(said + kStop), HasSubstr("finished")) << "a reason is one";
  EXPECT_THAT(outcome_of(said + kDone), HasSubstr("finished")) << "[DONE] too";
  EXPECT_THAT(outcome_of(kDone), HasSubstr("transient")) << "but not of nothing";
  EXPECT_THAT(
      outcome_of(call(R"({"index":0,"id":"call_aaaa","function":{"name":"Read","arguments":"{\"pa"}})") +
                 kDone),
      HasSubstr("transient"))
      << "nor of half a call";
}

TEST(OpenAiChatDecoder, AReasonThatIsFollowedByMoreWasNotTheEnd) {
  for (const char* more : {R"({"content":" and"})", R"({"reasoning_content":"hm"})",
                           R"({"tool_calls":[{"index":0,"id":"call_aaaa","function":{"name":"Read"}}]})"}) {
    SCOPED_TRACE(more);
    const auto decoder = openai_chat_dialect(ChatFlavour::compatible)->decoder();
    decoder->feed(chunk(R"({"content":"This"})", R"("stop")"), {});
    EXPECT_TRUE(decoder->may_be_complete());
    decoder->feed(chunk(R"({"role":"assistant","content":"","tool_calls":[]})"), {});
    EXPECT_TRUE(decoder->may_be_complete()) << "this says nothing";
    decoder->feed(chunk(more), {});
    EXPECT_FALSE(decoder->may_be_complete());
    EXPECT_THAT(outcome_text(decoder->finish()), HasSubstr("transient: the provider's answer ended before"));
  }
  EXPECT_EQ(
      outcome_of(chunk(R"({"content":"This"})", R"("stop")") + chunk(R"({"content":" and that"})") + kStop),
      "finished 0/0/0/0\ntext: This and that");
}

TEST(OpenAiChatDecoder, HowItEndedHoldsThoughMoreFollowsTheReason) {
  const auto ends = [](std::string_view reason) {
    return outcome_of(chunk(R"({"content":"This"})", reason) + chunk(R"({"content":" and"})") + kDone);
  };
  EXPECT_THAT(ends(R"("length")"), HasSubstr("output_limit"));
  EXPECT_THAT(ends(R"("content_filter")"), HasSubstr("refused"));
  EXPECT_THAT(ends(R"("error")"), HasSubstr("transient"));
  EXPECT_THAT(ends(R"("stop")"), HasSubstr("finished"));
}

TEST(OpenAiChatDecoder, OnlyTheFirstChoiceIsTaken) {
  EXPECT_EQ(
      outcome_of(
          framed(
              R"({"choices":[{"index":1,"delta":{"content":"no"},"finish_reason":"length"},{"index":0,"delta":{"content":"yes"}}]})") +
          kStop + kDone),
      "finished 0/0/0/0\ntext: yes");
}

TEST(OpenAiChatDecoder, UsageCountsWhatIsCachedAndWhatWasThought) {
  const auto usage_of = [](std::string_view usage) {
    return decode(chunk(R"({"content":"Hi"})") + kStop +
                  framed(fmt::format(R"({{"choices":[],{}}})", usage)) + kDone)
        ->usage;
  };
  EXPECT_EQ(
      usage_of(
          R"("usage":{"prompt_tokens":10,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":4,"cache_write_tokens":2}})"),
      (Usage{.input = 10, .output = 5, .cache_read = 4, .cache_write = 2}));
  EXPECT_EQ(
      usage_of(
          R"("usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15,"completion_tokens_details":{"reasoning_tokens":3}})")
          .output,
      5);
  EXPECT_EQ(
      usage_of(
          R"("usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":18,"completion_tokens_details":{"reasoning_tokens":3}})")
          .output,
      8);
  EXPECT_EQ(usage_of(R"("usage":{"prompt_tokens":10,"completion_tokens":5,"prompt_cache_hit_tokens":7})")
                .cache_read,
            7);
  EXPECT_EQ(usage_of(R"("x_groq":{"usage":{"prompt_tokens":10,"completion_tokens":5}})").input, 10);
  EXPECT_EQ(usage_of(R"("usage":{"prompt_tokens":-1,"completion_tokens":1e300})"), (Usage{}));
}

TEST(OpenAiChatDecoder, AnErrorInsideEndsItAndKeepsWhatWasCounted) {
  const auto decoder = openai_chat_dialect(ChatFlavour::compatible)->decoder();
  decoder->feed(
      chunk(R"({"content":"Hi"})") +
          framed(
              R"({"error":{"code":502,"message":"upstream"},"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}],"usage":{"prompt_tokens":3,"completion_tokens":1}})"),
      {});
  EXPECT_TRUE(decoder->is_complete());
  const auto outcome = decoder->finish();
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error(), (Failure{.kind = Failure::Kind::transient,
                                      .message = "the provider answered 502: upstream",
                                      .usage = {.input = 3, .output = 1}}));
  EXPECT_THAT(outcome_of("event: error\ndata: {\"message\":\"slow down: rate limit\"}\n\n"),
              HasSubstr("rate_limited"));
  EXPECT_THAT(outcome_of(framed(R"({"error":"prompt is too long"})") + kDone),
              HasSubstr("context_exhausted"));
}

TEST(OpenAiChatDecoder, WhatCannotBeReadIsAskedForAgain) {
  EXPECT_THAT(outcome_of(framed("{\"choices\":[") + kStop + kDone), HasSubstr("transient"));
  EXPECT_THAT(outcome_of(framed("[1]") + kStop + kDone), HasSubstr("transient"));
}

TEST(OpenAiChatDecoder, BrokenTextIsMended) {
  EXPECT_EQ(outcome_of(chunk(R"({"content":"a\ud800b\udc00\ud83d\ude00\\ud800"})") + kStop + kDone),
            "finished 0/0/0/0\ntext: a\xEF\xBF\xBD"
            "b\xEF\xBF\xBD\xF0\x9F\x98\x80\\ud800");
  EXPECT_EQ(outcome_of(chunk("{\"content\":\"a\xff\"}") + kStop + kDone),
            "finished 0/0/0/0\ntext: a\xEF\xBF\xBD");
  EXPECT_THAT(
      outcome_of(
          call(
              R"({"index":0,"id":"call_aaaa","function":{"name":"Read","arguments":{"n":123456789012345678901234}}})") +
          kStop + kDone),
      HasSubstr("call call_aaaa Read {\"n\":1.23456789012345"))
      << "a number that fits nowhere is rounded";
}

TEST(OpenAiChatDecoder, ContentMayBeAListOfParts) {
  EXPECT_EQ(
      outcome_of(
          chunk(
              R"({"content":[{"type":"thinking","thinking":[{"type":"text","text":"Hm."}]},{"type":"text","text":"Hi"}]})") +
          kStop + kDone),
      "finished 0/0/0/0\ntext: Hi\nthinking: Hm.");
}

TEST(OpenAiChatDecoder, ManyCallsAreTakenAndNotOneMore) {
  const auto with_calls = [](std::size_t count) {
    std::string body;
    for (std::size_t i = 0; i < count; ++i) {
      body += call(
          fmt::format(R"({{"index":{},"id":"c{}","function":{{"name":"Read","arguments":"{{}}"}}}})", i, i));
    }
    return decode(body + kStop + kDone);
  };
  EXPECT_EQ(with_calls(api::kMostCalls)->message.calls.size(), api::kMostCalls);
  EXPECT_EQ(with_calls(api::kMostCalls + 1).error().kind, Failure::Kind::definite);
}

TEST(OpenAiChatDecoder, LongTextIsTakenAndNotOneByteMore) {
  const auto with_bytes = [](std::string_view before, std::size_t count, std::string_view after) {
    const auto decoder = openai_chat_dialect(ChatFlavour::openai)->decoder();
    const std::size_t half = count / 2;
    for (const std::size_t part : {half, count - half}) {
      decoder->feed(chunk(std::string(before) + std::string(part, 'x') + std::string(after)), {});
    }
    decoder->feed(kStop + kDone, {});
    return decoder->finish();
  };
  const std::string_view text = R"({"content":")";
  EXPECT_EQ(with_bytes(text, api::kMostBytes, R"("})")->message.text.size(), api::kMostBytes);
  EXPECT_EQ(with_bytes(text, api::kMostBytes + 1, R"("})").error().kind, Failure::Kind::definite);
  const std::string_view arguments =
      R"({"tool_calls":[{"index":0,"id":"call_aaaa","function":{"name":"Read","arguments":")";
  EXPECT_EQ(with_bytes(arguments, api::kMostBytes, R"("}}]})")->message.calls[0].arguments.size(),
            api::kMostBytes);
  EXPECT_EQ(with_bytes(arguments, api::kMostBytes + 1, R"("}}]})").error().kind, Failure::Kind::definite);
}

TEST(OpenAiChat, ReasoningGoesBackWithItsCallsUnderTheNameItCameBy) {
  const std::string called =
      call(R"({"index":0,"id":"call_aaaa","function":{"name":"Read","arguments":"{}"}})") + kStop + kDone;
  const auto dialect = openai_chat_dialect(ChatFlavour::compatible);
  const auto plain = decode(chunk(R"({"reasoning_content":"Hm."})") + called);
  EXPECT_EQ(
      dialect->encode(plain->message),
      R"({"role":"assistant","content":null,"tool_calls":[{"id":"call_aaaa","type":"function","function":{"name":"Read","arguments":"{}"}}],"reasoning_content":"Hm."})");
  EXPECT_THAT(openai_chat_dialect(ChatFlavour::openai)->encode(plain->message), Not(HasSubstr("Hm.")))
      << "another provider's turn is built anew";
  const auto answered = decode(chunk(R"({"reasoning_content":"Hm.","content":"Yes."})") + kStop + kDone);
  EXPECT_EQ(dialect->encode(answered->message), R"({"role":"assistant","content":"Yes."})");

  const auto routed = decode(
      chunk(R"({"reasoning":"He","reasoning_details":[{"type":"reasoning.text","text":"He","index":0}]})") +
      chunk(R"({"reasoning":"llo","reasoning_details":[{"type":"reasoning.text","text":"llo","index":0}]})") +
      chunk(R"({"reasoning_details":[{"type":"reasoning.text","text":null,"signature":"sig","index":0}]})") +
      chunk(R"({"reasoning_details":[{"type":"reasoning.encrypted","data":"xyz","id":"e"}]})") + called);
  EXPECT_EQ(routed->message.thinking, "Hello");
  EXPECT_THAT(
      dialect->encode(routed->message),
      HasSubstr(
          R"("reasoning_details":[{"type":"reasoning.text","text":"Hello","index":0,"signature":"sig"},{"type":"reasoning.encrypted","data":"xyz","id":"e"}])"));
}

TEST(OpenAiChat, ArgumentsThatAreNoJsonStillMakeAValidRequest) {
  const Message turn{.role = Role::assistant,
                     .calls = {{.id = "a", .name = "Read", .arguments = "{\"pa\xff"}}};
  for (const ChatFlavour flavour : {ChatFlavour::openai, ChatFlavour::compatible}) {
    const auto sent = parse_json(openai_chat_dialect(flavour)->encode(turn));
    ASSERT_TRUE(sent);
    const std::string arguments(sent->at("tool_calls").at(0).at("function").at("arguments").as_string());
    EXPECT_EQ(parse_json_object(arguments).has_value(), flavour == ChatFlavour::compatible) << arguments;
    EXPECT_THAT(arguments, HasSubstr("pa"));
  }
}

TEST(OpenAiChat, EveryMessageIsAFragment) {
  const auto dialect = openai_chat_dialect(ChatFlavour::openai);
  for (const Role role : {Role::user, Role::assistant, Role::tool}) {
    EXPECT_TRUE(parse_json_object(dialect->encode(Message{.role = role}))) << "an empty one too";
  }
  EXPECT_EQ(dialect->encode(Message{.role = Role::assistant, .text = "Hi", .wire = "anthropic\n{}"}),
            R"({"role":"assistant","content":"Hi"})");
  EXPECT_EQ(
      dialect->encode(Message{.role = Role::tool,
                              .results = {{.call_id = "a", .content = "x"},
                                          {.call_id = "b", .status = ToolStatus::error, .content = "y"}}}),
      R"({"role":"tool","tool_call_id":"a","content":"x"},{"role":"tool","tool_call_id":"b","content":"Error: y"})");
}

TEST(OpenAiChat, ARequestNamesItsModelAndItsKey) {
  const auto dialect = openai_chat_dialect(ChatFlavour::compatible);
  const HttpRequest request =
      dialect->address(ModelName("compatible/a/b"), {.base_url = "http://h/v1", .key = "k"});
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.url, "http://h/v1/chat/completions");
  EXPECT_EQ(find_header(request.headers, "authorization"), "Bearer k");
  EXPECT_EQ(find_header(dialect->address(ModelName("compatible/a"), {.base_url = "http://h/v1"}).headers,
                        "authorization"),
            std::nullopt);
  const RequestPrefix prefix{.model = ModelName("compatible/a/b"),
                             .tools = {{.name = "T", .schema = "broken"}},
                             .max_output_tokens = 7};
  EXPECT_EQ(
      dialect->encode(prefix).head,
      R"({"model":"a/b","stream":true,"stream_options":{"include_usage":true},"max_tokens":7,"tools":[{"type":"function","function":{"name":"T","description":"","parameters":{"type":"object"}}}],"messages":[)");
  EXPECT_THAT(openai_chat_dialect(ChatFlavour::openai)->encode(prefix).head,
              HasSubstr(R"("max_completion_tokens":7)"));
}

}  // namespace
}  // namespace deputy
