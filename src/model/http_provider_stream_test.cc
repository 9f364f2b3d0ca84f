// The three clocks, the end of a stream, and how much of it is read.
#include "model/http_model.h"

namespace deputy {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;

TEST_F(HttpModel, EachClockIsTheOneThatIsSet) {
  clocks_ = {.connect = seconds{3}, .first_event = seconds{7}, .no_event = seconds{11}};
  script_ = {{.fault = SimFault::silence},
             {.chunks = {{"text hel\n"}}, .fault = SimFault::silence, .fault_after = 9},
             {.fault = SimFault::unreachable}};
  EXPECT_EQ(ask().stop, ReplyStop::finished);
  ASSERT_EQ(retried_.size(), 3u);
  EXPECT_THAT(retried_[0].reason, HasSubstr("within 7s"));
  EXPECT_THAT(retried_[1].reason, HasSubstr("silent for 11s"));
  EXPECT_EQ(requests_[2].connect_timeout, seconds{3});
  EXPECT_NEAR(std::chrono::duration<double>(asked_at_.at(3) - asked_at_.at(2) - retried_[2].wait).count(), 3,
              0.1);
}

TEST_F(HttpModel, DoesNotTakePingsForProgress) {
  SimExchange pings;
  for (int i = 0; i < 100; ++i) pings.chunks.push_back({"ping\n", seconds{10}});
  script_ = {pings};
  EXPECT_EQ(ask().stop, ReplyStop::finished);
  ASSERT_EQ(retried_.size(), 1u);
  EXPECT_LE(asked_at_.at(1), seconds{62});
}

TEST_F(HttpModel, WaitsAsLongAsThereAreEvents) {
  SimExchange slow;
  for (int i = 0; i < 20; ++i) slow.chunks.push_back({"text x\n", i == 0 ? seconds{59} : seconds{119}});
  slow.chunks.push_back({"end\n", seconds{119}});
  script_ = {slow};
  const Reply reply = ask();
  EXPECT_EQ(reply.message.text, std::string(20, 'x'));
  EXPECT_TRUE(retried_.empty());
}

TEST_F(HttpModel, EndsARequestWithoutAnEventForTwoMinutesAndMakesItAgain) {
  script_ = {{.chunks = {{"text x\n"}, {"text y\nend\n", seconds{121}}}}};
  EXPECT_EQ(ask().message.text, "hello") << "the second answer";
  ASSERT_EQ(retried_.size(), 1u);
  EXPECT_THAT(retried_[0].reason, HasSubstr("silent for 2m"));
  EXPECT_EQ(retried_[0].usage, Usage{}) << "nobody knows what it took";
}

TEST_F(HttpModel, SaysThatARequestWhichNobodyTookCostNothing) {
  script_ = {{.status = 503}, {.fault = SimFault::refused}, {.fault = SimFault::unreachable}};
  EXPECT_EQ(ask().stop, ReplyStop::finished);
  ASSERT_EQ(retried_.size(), 3u);
  for (const auto& retried : retried_) EXPECT_EQ(retried.usage, Usage{.cost_micros = 0});
}

TEST_F(HttpModel, DoesNotSayThatAFreeRequestWhichSomebodyTookCameToNothing) {
  facts_.price = Price{};
  script_ = {{.chunks = {{"text hel\n"}}, .fault = SimFault::cut, .fault_after = 9}, {.status = 503}};
  EXPECT_EQ(ask().stop, ReplyStop::finished);
  ASSERT_EQ(retried_.size(), 2u);
  EXPECT_EQ(retried_[0].usage, Usage{}) << "its tokens are not known";
  EXPECT_EQ(retried_[1].usage, kUntaken);
}

TEST_F(HttpModel, EndsAtTheTerminalEventThoughTheServerKeepsTheLineOpen) {
  script_ = {{.chunks = {{"text hello\nend\n"}}, .fault = SimFault::silence, .fault_after = 15}};
  EXPECT_EQ(ask().message.text, "hello");
  EXPECT_LT(elapsed(), seconds{1});
}

TEST_F(HttpModel, EndsAtTheTerminalEventThoughTheServerTalksOn) {
  using std::chrono::milliseconds;
  for (const char* last : {"end\n", "refuse 1\n"}) {
    SimExchange chatter{.chunks = {{"text hello\n"}, {last}}};
    for (int i = 0; i < 10'000; ++i) chatter.chunks.push_back({"ping\n", milliseconds{100}});
    script_ = {chatter};
    const Duration began = elapsed();
    EXPECT_EQ(ask().message.text, "hello");
    EXPECT_LT(elapsed() - began, seconds{3}) << last;
  }
}

TEST_F(HttpModel, WaitsShortlyForCountsThatNeedNotCome) {
  using std::chrono::milliseconds;
  script_ = {{.chunks = {{"text hello\nstop\n"}, {"used 100 20\n", milliseconds{1400}}},
              .fault = SimFault::silence,
              .fault_after = 28}};
  const Reply reply = ask();
  EXPECT_EQ(reply.message.text, "hello");
  EXPECT_EQ(reply.usage.input, 100);
  EXPECT_LE(elapsed(), seconds{3});

  const Duration began = elapsed();
  SimExchange chatter{.chunks = {{"text hello\nstop\n"}}};
  for (int i = 0; i < 10'000; ++i) chatter.chunks.push_back({"ping\n", milliseconds{100}});
  script_ = {chatter};
  EXPECT_EQ(ask().message.text, "hello");
  EXPECT_LE(elapsed() - began, seconds{2});
  EXPECT_TRUE(retried_.empty());
}

TEST_F(HttpModel, SaysWhatWasWrongWithAnAnswerThatHadEndedNotThatNothingFollowedIt) {
  const std::string nonsense = "text hello\ngarble\n";
  script_ = {{.chunks = {{nonsense}}, .fault = SimFault::silence, .fault_after = nonsense.size()},
             {.chunks = {{nonsense}}, .fault = SimFault::cut, .fault_after = nonsense.size()}};
  const Reply reply = ask();
  ASSERT_EQ(retried_.size(), 1u) << "it is asked for twice";
  EXPECT_EQ(retried_[0].reason, "The model wrote nonsense.");
  EXPECT_EQ(reply.error, "The model wrote nonsense. Tried 2 times.");
}

TEST_F(HttpModel, KeepsAReplyWhoseConnectionBreaksAfterTheTerminalEvent) {
  script_ = {{.chunks = {{"text hello\nend\n"}}, .fault = SimFault::cut, .fault_after = 15}};
  EXPECT_EQ(ask().message.text, "hello");
  EXPECT_TRUE(retried_.empty());
}

TEST_F(HttpModel, RefusesAnAnswerThatIsTooLarge) {
  SimExchange endless;
  const std::string line = "ping" + std::string(1024 * 1024 - 5, 'x') + "\n";
  for (std::size_t i = 0; i <= kMaxReplyBytes / line.size(); ++i) endless.chunks.push_back({line});
  script_ = {endless};
  const Reply reply = ask();
  EXPECT_EQ(reply.stop, ReplyStop::failed);
  EXPECT_THAT(reply.error, HasSubstr("more than 64 MiB"));
}

TEST_F(HttpModel, TakesAnAnswerThatIsJustLargeEnough) {
  SimExchange large;
  const std::string line = "ping" + std::string(1024 * 1024 - 5, 'x') + "\n";
  for (std::size_t i = 1; i < kMaxReplyBytes / line.size(); ++i) large.chunks.push_back({line});
  large.chunks.push_back({"text hello\nend\n"});
  large.chunks.back().bytes =
      std::string(line.size() - large.chunks.back().bytes.size() - 1, 'x') + "\n" + large.chunks.back().bytes;
  script_ = {large};
  EXPECT_EQ(ask().message.text, "hello");
}

TEST_F(HttpModel, ReadsNoMoreOfAnErrorThanItNeeds) {
  SimExchange endless = status(400, "bad");
  for (int i = 0; i < 100; ++i) endless.chunks.push_back({std::string(16 * 1024, 'x'), seconds{1}});
  script_ = {endless};
  const Reply reply = ask();
  EXPECT_EQ(reply.stop, ReplyStop::failed);
  EXPECT_LE(reply.error.size(), kMaxErrorBytes + 100);
  EXPECT_LT(elapsed(), seconds{10});
}

TEST_F(HttpModel, TakesAnErrorWhoseBodyNeverEnds) {
  script_ = {{.status = 401, .chunks = {{"who are you"}}, .fault = SimFault::silence, .fault_after = 11}};
  const Reply reply = ask();
  EXPECT_EQ(reply.stop, ReplyStop::failed);
  EXPECT_THAT(reply.error, HasSubstr("who are you"));
  EXPECT_LE(elapsed(), seconds{60});
}

}  // namespace
}  // namespace deputy
