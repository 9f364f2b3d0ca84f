// Recorded traffic of generateContent; what each answer must come to was worked out apart from the decoder.
#include <gtest/gtest.h>

#include "model/fixture_expectation.h"
#include "model/gemini.h"

namespace deputy {
namespace {

using namespace std::chrono_literals;
using Kind = Failure::Kind;

const std::vector<ExpectedReply>& replies() {
  static const std::vector<ExpectedReply> kReplies{
      {.name = "gemini/max-tokens.sse",
       .stop = ReplyStop::output_limit,
       .text = "Standing sentinel against the relentless",
       .bytes = 170,
       .crc = 0x599330b7,
       .usage = {.input = 12, .output = 33}},
      {.name = "gemini/signature-separate-chunk.sse",
       .stop = ReplyStop::calls,
       .calls = {{"local_QUVVadTSNJ6_qtsPvN7J8Q0_1", "get_country", R"({})"}},
       .usage = {.input = 29, .output = 212}},
      {.name = "gemini/stream-tool-call-arguments.sse",
       .stop = ReplyStop::calls,
       .calls = {{"local_dqHOab6xGLzWodAPkPuViA4_1", "getWeather", R"({"location":"Boston"})"},
                 {"local_dqHOab6xGLzWodAPkPuViA4_2", "getWeather", R"({"location":"San Francisco"})"}},
       .usage = {.input = 26, .output = 155}},
      {.name = "gemini/stream-tool-call-noargs.sse",
       .stop = ReplyStop::calls,
       .thinking_bytes = 320,
       .calls = {{"local__vr4aYiWEJnYodAPkujX0QM_1", "read_theme", R"({})"},
                 {"local__vr4aYiWEJnYodAPkujX0QM_2", "read_screen", R"({"id":"A"})"},
                 {"local__vr4aYiWEJnYodAPkujX0QM_3", "read_screen", R"({"id":"B"})"},
                 {"local__vr4aYiWEJnYodAPkujX0QM_4", "read_screen", R"({"id":"C"})"}},
       .usage = {.input = 249, .output = 241}},
      {.name = "gemini/text.sse", .text = "Hello!", .usage = {.input = 11, .output = 18}},
      {.name = "gemini/thinking-3flash.sse",
       .text = "To see your future self in such a mirror",
       .bytes = 2675,
       .crc = 0x62de347c,
       .thinking_bytes = 1466,
       .usage = {.input = 44, .output = 1510}},
      {.name = "gemini/thinking-then-tool.sse",
       .stop = ReplyStop::calls,
       .thinking_bytes = 329,
       .calls = {{"local_zwCzaYWfAbnoz7IPmc_m6Q4_1", "weather", R"({"location": "Florence, Italy"})"}},
       .usage = {.input = 54, .output = 76}},
      {.name = "gemini/tool-parallel-25.sse",
       .stop = ReplyStop::calls,
       .calls = {{"local_XQCzaYWvIqfRz7IPupTlyAk_1", "add", R"({"b": 3,"a": 2})"},
                 {"local_XQCzaYWvIqfRz7IPupTlyAk_2", "multiply", R"({"a": 2,"b": 3})"}},
       .usage = {.input = 121, .output = 74}},
      {.name = "gemini/tool-parallel-3pro-turn2.sse",
       .text = "The sum of 2 and 3 is 5, and their product is 6.",
       .usage = {.input = 646, .output = 39}},
      {.name = "gemini/tool-parallel-3pro.sse",
       .stop = ReplyStop::calls,
       .calls = {{"8hd01vsf", "add", R"({"a": 2,"b": 3})"}, {"k0srpqrc", "multiply", R"({"b": 3,"a": 2})"}},
       .usage = {.input = 157, .output = 470}},
      {.name = "gemini/tool-single-25.sse",
       .stop = ReplyStop::calls,
       .calls = {{"local_NyTxaYuTJ_OW_uMPgIPKgAg_1", "get_weather", R"({"city": "Paris"})"}},
       .usage = {.input = 55, .output = 60}},
      {.name = "gemini/two-finish-reasons.sse",
       .text = "The first number is 121932631112635269.\n",
       .bytes = 64,
       .crc = 0x54f60824,
       .usage = {.input = 665, .output = 304}},
      {.name = "aimock/gemini-hello.sse", .text = "Hi there, this is a deterministic answer from the mock."},
      {.name = "aimock/gemini-think.sse", .text = "391", .thinking_bytes = 34},
      {.name = "aimock/gemini-weather.sse",
       .stop = ReplyStop::calls,
       .calls = {{"local_dd795a60_1", "get_weather", R"({"city":"Paris","unit":"c"})"},
                 {"local_dd795a60_2", "get_time", R"({"tz":"Europe/Paris"})"}}}};
  return kReplies;
}

// Answers without a stream have the form of a stream's chunks.
const std::vector<ExpectedReply>& chunks() {
  static const std::vector<ExpectedReply> kChunks{
      {.name = "gemini/blocked-prompt-model-armor.json", .stop = ReplyStop::refused},
      {.name = "gemini/finish-model-armor.json",
       .stop = ReplyStop::refused,
       .usage = {.input = 19, .output = 33}}};
  return kChunks;
}

const std::vector<ExpectedFailure>& failures() {
  static const std::vector<ExpectedFailure> kFailures{
      {.name = "gemini/error-400-bad-key.json", .kind = Kind::definite, .says = "API key not valid"},
      {.name = "gemini/error-404-model.json", .kind = Kind::definite, .says = "is not found"},
      {.name = "gemini/error-429-retryinfo.json",
       .kind = Kind::rate_limited,
       .says = "exceeded your current quota",
       .retry_after = 48939935699ns},
      {.name = "synthetic/gemini-400-too-long.json",
       .kind = Kind::context_exhausted,
       .says = "input token count (3475108)",
       .status = 400},
      {.name = "synthetic/gemini-400-too-long-array.json",
       .kind = Kind::context_exhausted,
       .says = "input token count (3475108)",
       .status = 400},
      {.name = "synthetic/gemini-400-missing-thought-signature.json",
       .kind = Kind::definite,
       .says = "missing a thought_signature",
       .status = 400}};
  return kFailures;
}

const ExpectedFailure kMalformedCall{.name = "synthetic/gemini-malformed-function-call.sse",
                                     .kind = Kind::transient,
                                     .says = "MALFORMED_FUNCTION_CALL",
                                     .usage = {.input = 120}};

const bool kListed = list_fixtures(replies()) && list_fixtures(chunks()) && list_fixtures(failures()) &&
                     list_fixtures(std::vector{kMalformedCall});

TEST(GeminiFixtures, ComeToWhatTheySay) {
  NEEDS_FIXTURES();
  const auto dialect = gemini_dialect();
  for (const ExpectedReply& expected : replies()) {
    expect_reply(replay(*dialect, load_fixture(expected.name).body), expected);
  }
}

TEST(GeminiFixtures, BlockedPromptsAndAnswersAreRefusals) {
  NEEDS_FIXTURES();
  const auto dialect = gemini_dialect();
  for (const ExpectedReply& expected : chunks()) {
    const Replayed replayed = replay(*dialect, "data: " + load_fixture(expected.name).body + "\r\n\r\n");
    expect_reply(replayed, expected);
    EXPECT_TRUE(replayed.outcome->error.contains("MODEL_ARMOR")) << replayed.outcome->error;
  }
}

TEST(GeminiFixtures, GoBackWithTheirSignatures) {
  NEEDS_FIXTURES();
  const auto dialect = gemini_dialect();
  for (const ExpectedReply& expected : replies()) {
    SCOPED_TRACE(expected.name);
    const std::string body = load_fixture(expected.name).body;
    const std::string fragment = dialect->encode(replay(*dialect, body).outcome->message);
    ASSERT_TRUE(parse_json_object(fragment)) << fragment;
    for (const std::string_view before : {"\"thoughtSignature\": \"", "\"thoughtSignature\":\""}) {
      expect_carried(body, before, fragment);
    }
  }
}

TEST(GeminiFixtures, AMalformedCallIsTriedAgain) {
  NEEDS_FIXTURES();
  const auto outcome = replay(*gemini_dialect(), load_fixture(kMalformedCall.name).body).outcome;
  ASSERT_FALSE(outcome.has_value());
  expect_failure(outcome.error(), kMalformedCall);
}

TEST(GeminiFixtures, ErrorsAreToldApart) {
  NEEDS_FIXTURES();
  const auto dialect = gemini_dialect();
  for (const ExpectedFailure& expected : failures())
    expect_failure(failure_from(*dialect, expected), expected);
}

TEST(GeminiFixtures, NoPrefixIsTakenForTheWhole) {
  NEEDS_FIXTURES();
  const auto dialect = gemini_dialect();
  const std::string body = load_fixture("gemini/tool-parallel-3pro.sse").body;
  const std::size_t end = body.rfind("}");
  for (std::size_t size = 0; size < body.size(); ++size) {
    const auto decoder = dialect->decoder();
    decoder->feed(std::string_view(body).substr(0, size), {});
    ASSERT_EQ(decoder->finish().has_value(), size > end) << "cut at " << size;
  }
}

}  // namespace
}  // namespace deputy
