// A context that is full, or will be.
#include "model/context_estimate.h"
#include "model/http_model.h"

namespace deputy {
namespace {

using testing::HasSubstr;

TEST_F(HttpModel, ForeseesAFullContextAndSendsNothing) {
  facts_.window = 2000;
  messages_.push_back({.text = std::string(8000, 'x')});
  fragments_.push_back("<long>");
  const Reply reply = ask();
  EXPECT_EQ(reply.stop, ReplyStop::context_exhausted);
  EXPECT_THAT(reply.error, HasSubstr("does not fit the window of 2,000 of toy/one"));
  EXPECT_TRUE(requests_.empty());
}

TEST_F(HttpModel, BelievesWhatTheProviderCounted) {
  facts_.window = 100'000;
  Request counted = request();
  counted.measured = Measured{.messages = 1, .tokens = 99'900};
  EXPECT_EQ(run(loop_, provider().ask(counted, {}, {})).stop, ReplyStop::context_exhausted);
  counted.measured = Measured{.messages = 1, .tokens = 90'000};
  EXPECT_EQ(run(loop_, provider().ask(counted, {}, {})).stop, ReplyStop::finished);
}

TEST_F(HttpModel, AsksForLessOutputWhereNotAllOfItHasRoom) {
  prefix_ = std::make_shared<RequestPrefix>(
      RequestPrefix{.model = ModelName("toy/one"), .max_output_tokens = 8000});
  facts_.window = 10'000;
  Request counted = request();
  counted.measured = Measured{.messages = 1, .tokens = 6000};
  EXPECT_EQ(run(loop_, provider().ask(counted, {}, {})).stop, ReplyStop::finished);
  EXPECT_EQ(requests_.at(0).body, "[|<hi>|3700]");  // less what the estimate may be wrong by
}

TEST_F(HttpModel, AsksForLessOutputWhereTheEstimateMayBeWrong) {
  prefix_ = std::make_shared<RequestPrefix>(
      RequestPrefix{.model = ModelName("toy/one"), .max_output_tokens = 3000});
  facts_.window = 10'000;
  Request counted = request();
  counted.measured = Measured{.messages = 1, .tokens = 6900};
  EXPECT_EQ(run(loop_, provider().ask(counted, {}, {})).stop, ReplyStop::finished);
  EXPECT_EQ(requests_.at(0).body, "[|<hi>|2755]");
}

TEST_F(HttpModel, SendsNothingWhereNoUsefulAnswerHasRoom) {
  prefix_ = std::make_shared<RequestPrefix>(
      RequestPrefix{.model = ModelName("toy/one"), .max_output_tokens = 8000});
  facts_.window = 10'000;
  Request counted = request();
  const std::int64_t most = (10'000 - 1024) * 20 / 21;
  counted.measured = Measured{.messages = 1, .tokens = most};
  EXPECT_EQ(run(loop_, provider().ask(counted, {}, {})).stop, ReplyStop::finished);
  counted.measured = Measured{.messages = 1, .tokens = most + 2};
  EXPECT_EQ(run(loop_, provider().ask(counted, {}, {})).stop, ReplyStop::context_exhausted);
}

TEST_F(HttpModel, WaitsForAMinuteThatHasRoomUnlessItIsCertainThatNoneHas) {
  const auto told_of_a_quota = [&](std::int64_t tokens) {
    script_ = {status(429, "quota", {{"x-ratelimit-limit-tokens", std::to_string(tokens)}}), good()};
  };
  Request first = request(std::string(8000, 'x'));
  const std::int64_t tokens = estimated_input(first);
  told_of_a_quota(tokens * 9 / 10);
  EXPECT_EQ(run(loop_, provider().ask(first, {}, {})).stop, ReplyStop::finished) << "it may be that small";
  told_of_a_quota(tokens / 2);
  EXPECT_EQ(run(loop_, provider().ask(first, {}, {})).stop, ReplyStop::context_exhausted);
  first.measured = Measured{.messages = 1, .tokens = tokens};
  told_of_a_quota(tokens * 9 / 10);
  EXPECT_EQ(run(loop_, provider().ask(first, {}, {})).stop, ReplyStop::context_exhausted) << "it was counted";
  EXPECT_EQ(requests_.size(), 4u);
}

TEST_F(HttpModel, TakesAFirstRequestThatIsTurnedDownForFiveMinutesToBeAsLargeAsItSeems) {
  const Request first = request(std::string(8000, 'x'));
  const std::int64_t tokens = estimated_input(first);
  const auto too_many = [&](std::int64_t quota) {
    return status(429, "quota", {{"x-ratelimit-limit-tokens", std::to_string(quota)}, {"retry-after", "30"}});
  };
  script_ = {too_many(tokens * 9 / 10)};
  repeat_last_ = true;
  EXPECT_EQ(run(loop_, provider().ask(first, {}, {})).stop, ReplyStop::context_exhausted);
  EXPECT_EQ(asked_at_.size(), 11u);
  EXPECT_GE(asked_at_.back() - asked_at_.front(), std::chrono::minutes{5});
  EXPECT_LE(asked_at_.at(9) - asked_at_.front(), std::chrono::minutes{5});
}

TEST_F(HttpModel, WaitsLongerThanFiveMinutesForAMinuteThatHasRoomForAsMuchAsItSeems) {
  const Request first = request(std::string(8000, 'x'));
  script_.assign(20, status(429, "quota",
                            {{"x-ratelimit-limit-tokens", std::to_string(estimated_input(first))},
                             {"retry-after", "30"}}));
  EXPECT_EQ(run(loop_, provider().ask(first, {}, {})).stop, ReplyStop::finished);
  EXPECT_GE(asked_at_.back() - asked_at_.front(), std::chrono::minutes{10});
}

TEST_F(HttpModel, RecognisesAFullContextWhenTheProviderSaysSo) {
  script_ = {status(400, "prompt is too long")};
  const Reply reply = ask();
  EXPECT_EQ(reply.stop, ReplyStop::context_exhausted);
  EXPECT_EQ(requests_.size(), 1u);
}

}  // namespace
}  // namespace deputy
