// What holds for every provider alike, in whichever tongue it speaks.
#include "model/tongues.h"

#include <gtest/gtest.h>

namespace deputy {
namespace {

json::value json_in(std::string_view text) { return parse_json(text).value_or(json::value()); }

class EveryTongue : public testing::TestWithParam<Tongue> {
 protected:
  // Byte by byte; what is shown on the way goes into `shown_`.
  std::expected<Reply, Failure> heard(const Said& said) {
    const auto decoder = dialect_->decoder();
    for (const SimChunk& chunk : answer_in(GetParam(), said).chunks) {
      for (const char& byte : chunk.bytes) {
        decoder->feed({&byte, 1}, [this](const Delta& delta) {
          if (const auto* text = std::get_if<TextDelta>(&delta)) shown_ += text->text;
        });
      }
    }
    shown_before_the_end_ = shown_;
    return decoder->finish();
  }

  std::unique_ptr<Dialect> dialect_ = dialect_of(GetParam());
  std::string shown_;
  std::string shown_before_the_end_;
};

TEST_P(EveryTongue, ShowsTextAsItComes) {
  const auto reply = heard({.text = "I read on."});
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->stop, ReplyStop::finished);
  EXPECT_EQ(reply->message.text, "I read on.");
  EXPECT_EQ(shown_before_the_end_, "I read on.");
}

TEST_P(EveryTongue, TakesSeveralCallsOfOneReply) {
  const auto reply = heard({.text = "I look twice.",
                            .calls = {{"call_a", "Read", R"({"file_path":"a.txt"})"},
                                      {"call_b", "Glob", R"({"pattern":"*.txt"})"}}});
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->stop, ReplyStop::calls);
  ASSERT_EQ(reply->message.calls.size(), 2u);
  EXPECT_EQ(reply->message.calls[0].name, "Read");
  EXPECT_EQ(json_in(reply->message.calls[0].arguments), json_in(R"({"file_path":"a.txt"})"));
  EXPECT_EQ(reply->message.calls[1].name, "Glob");
  EXPECT_EQ(json_in(reply->message.calls[1].arguments), json_in(R"({"pattern":"*.txt"})"));
  EXPECT_NE(reply->message.calls[0].id, reply->message.calls[1].id);
}

TEST_P(EveryTongue, WaitsAsLongAsARejectionAsks) {
  const SimExchange rejection = too_many_requests(GetParam());
  const auto failure = [&](const HttpHeaders& headers) {
    return dialect_->failure({.status = rejection.status, .headers = headers}, rejection.chunks.front().bytes,
                             WallTime{std::chrono::seconds{1'800'000'000}});
  };
  using std::chrono::milliseconds;
  using std::chrono::seconds;
  for (const auto& [headers, wait] : std::vector<std::pair<HttpHeaders, Duration>>{
           {{{"retry-after", "7"}}, seconds{7}},
           {{{"retry-after", "1.5"}}, milliseconds{1500}},
           {{{"retry-after-ms", "250"}, {"retry-after", "1"}}, milliseconds{250}},
           {{{"retry-after", "Fri, 15 Jan 2027 08:00:20 GMT"}}, seconds{20}},
           {{{"retry-after", "Friday, 15-Jan-27 08:00:20 GMT"}}, seconds{20}},
           {{{"retry-after", "Fri Jan 15 08:00:20 2027"}}, seconds{20}}}) {
    EXPECT_EQ(failure(headers).kind, Failure::Kind::rate_limited);
    EXPECT_EQ(failure(headers).retry_after, wait) << headers.front().value;
  }
}

INSTANTIATE_TEST_SUITE_P(Models, EveryTongue, testing::ValuesIn(kTongues), [](const auto& test) {
  std::string name(dialect_of(test.param)->provider());
  for (char& c : name) c = c == '-' ? '_' : c;
  return name;
});

}  // namespace
}  // namespace deputy
