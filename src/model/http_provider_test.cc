#include "model/http_provider.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>

#include "async/sim_loop.h"
#include "async/sleep.h"
#include "async/task_group.h"
#include "model/toy_dialect.h"
#include "net/sim_network.h"
#include "support/run.h"

namespace deputy {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;

SimExchange answer(std::string body) { return {.status = 200, .chunks = {{std::move(body)}}}; }
SimExchange status(int code, std::string body = "no", HttpHeaders headers = {}) {
  return {.status = code, .headers = std::move(headers), .chunks = {{std::move(body)}}};
}
SimExchange good() { return answer("text hello\nused 100 20\nend\n"); }

class HttpModel : public testing::Test {
 protected:
  HttpModel() {
    network_.define("http://toy", [this](const HttpRequest& request) {
      requests_.push_back(request);
      asked_at_.push_back(loop_.clock().now().time_since_epoch());
      if (script_.empty()) return good();
      SimExchange next = script_.front();
      if (script_.size() > 1 || !repeat_last_) script_.pop_front();
      return next;
    });
  }

  HttpProvider& provider() {
    if (provider_) return *provider_;
    auto dialect = std::make_unique<ToyDialect>();
    dialect_ = dialect.get();
    provider_ = std::make_unique<HttpProvider>(
        HttpProvider::Parts{.dialect = std::move(dialect),
                            .endpoint = {"http://toy", key_},
                            .key_variable = "TOY_KEY",
                            .network = network_,
                            .loop = loop_,
                            .random = random_,
                            .governors = governors_,
                            .facts = [this](const ModelName&) { return facts_; },
                            .clocks = clocks_});
    return *provider_;
  }

  Request request(std::string text = "hi") {
    messages_.push_back({.text = std::move(text)});
    fragments_.push_back(provider().encode(messages_.back()));
    return {.prefix = prefix_,
            .messages = messages_,
            .fragments = fragments_,
            .measured = {},
            .label = {},
            .agent = {}};
  }

  Reply ask(StopToken stop = {}) {
    return run(loop_, provider().ask(
                          request(),
                          [this](const Delta& delta) {
                            if (const auto* text = std::get_if<TextDelta>(&delta)) streamed_ += text->text;
                            if (const auto* retried = std::get_if<Retried>(&delta)) {
                              streamed_ += "|";
                              retried_.push_back(*retried);
                            }
                          },
                          std::move(stop)));
  }
  Duration elapsed() const { return loop_.clock().now().time_since_epoch(); }

  SimLoop loop_{7};
  SimNetwork network_{loop_};
  SeededRandom random_{7};
  Governors governors_{loop_};
  ModelFacts facts_{.window = 100'000, .max_output = {}, .price = Price{.input = 2, .output = 10}};
  std::string key_ = "toy-secret-key-0123456789";
  Clocks clocks_;
  std::unique_ptr<HttpProvider> provider_;
  const ToyDialect* dialect_ = nullptr;

  std::shared_ptr<const RequestPrefix> prefix_ = std::make_shared<RequestPrefix>(RequestPrefix{
      .model = ModelName("toy/one"), .system = "Be brief.", .tools = {}, .max_output_tokens = 500});
  std::vector<Message> messages_;
  std::vector<std::string> fragments_;

  std::deque<SimExchange> script_;
  bool repeat_last_ = false;
  std::vector<HttpRequest> requests_;
  std::vector<Duration> asked_at_;
  std::string streamed_;
  std::vector<Retried> retried_;
};

TEST_F(HttpModel, GivesOneReplyWithItsTextUsageAndCost) {
  const Reply reply = ask();
  EXPECT_EQ(reply.stop, ReplyStop::finished);
  EXPECT_EQ(reply.message.text, "hello");
  EXPECT_EQ(reply.model, ModelName("toy/one"));
  EXPECT_EQ(reply.usage.input, 100);
  EXPECT_EQ(reply.usage.cost_micros, 400);
  EXPECT_EQ(streamed_, "hello");
  EXPECT_TRUE(retried_.empty());
}

TEST_F(HttpModel, LeavesAnUnknownCostUnknown) {
  facts_.price.reset();
  EXPECT_EQ(ask().usage.cost_micros, std::nullopt);
}

TEST_F(HttpModel, AssemblesRequestsFromThePrefixAndTheFragments) {
  ask();
  ask();
  ASSERT_EQ(requests_.size(), 2u);
  EXPECT_EQ(requests_[0].body, "[Be brief.|<hi>|500]");
  EXPECT_EQ(requests_[1].body, "[Be brief.|<hi>,<hi>|500]");
  EXPECT_EQ(requests_[0].url, "http://toy/one");
  EXPECT_EQ(requests_[0].connect_timeout, seconds{10});
  EXPECT_EQ(dialect_->prefixes_encoded, 1);
}

TEST_F(HttpModel, ForgetsThePrefixesThatNobodyHasAnyMore) {
  for (int i = 0; i < 3; ++i) {
    prefix_ = std::make_shared<RequestPrefix>(*prefix_);
    ask();
  }
  EXPECT_EQ(dialect_->prefixes_encoded, 3);
}

TEST_F(HttpModel, AsksForNoMoreOutputThanTheModelCanGive) {
  facts_.max_output = 300;
  ask();
  EXPECT_THAT(requests_.at(0).body, testing::EndsWith("|300]"));
}

TEST_F(HttpModel, SaysWhichVariableIsMissing) {
  key_ = "";
  const Reply reply = ask();
  EXPECT_EQ(reply.stop, ReplyStop::no_key);
  EXPECT_THAT(reply.error, HasSubstr("no API key for provider toy: set TOY_KEY"));
  EXPECT_TRUE(requests_.empty());
}

struct Recovered {
  std::string name;
  SimExchange first;
};
class HttpModelRetries : public HttpModel, public testing::WithParamInterface<Recovered> {};

TEST_P(HttpModelRetries, WhatMayPass) {
  script_ = {GetParam().first};
  const Reply reply = ask();
  EXPECT_EQ(reply.stop, ReplyStop::finished) << reply.error;
  EXPECT_EQ(reply.message.text, "hello");
  ASSERT_EQ(retried_.size(), 1u);
  EXPECT_EQ(retried_[0].attempt, 1);
  EXPECT_FALSE(retried_[0].reason.empty());
  ASSERT_EQ(requests_.size(), 2u);
  EXPECT_EQ(requests_[0].body, requests_[1].body);
}

INSTANTIATE_TEST_SUITE_P(
    Http, HttpModelRetries,
    testing::Values(
        Recovered{"Refused", {.fault = SimFault::refused}},
        Recovered{"Unreachable", {.fault = SimFault::unreachable}},
        Recovered{"Cut", {.fault = SimFault::cut}}, Recovered{"S408", status(408)},
        Recovered{"S409", status(409)}, Recovered{"S429", status(429)}, Recovered{"S500", status(500)},
        Recovered{"S503", status(503)}, Recovered{"S529", status(529)}, Recovered{"Empty", answer("")},
        Recovered{"CutInTheMiddle",
                  {.chunks = {{"text half\ntext other\n"}}, .fault = SimFault::cut, .fault_after = 10}},
        Recovered{"CleanEndWithoutTerminalEvent", answer("text half\n")},
        Recovered{"SilentFromTheStart", {.fault = SimFault::silence}},
        Recovered{"SilentInTheMiddle",
                  {.chunks = {{"text half\n"}}, .fault = SimFault::silence, .fault_after = 10}},
        Recovered{
            "WebPage",
            {.headers = {{"content-type", "text/html; charset=utf-8"}}, .chunks = {{"text <html>\nend\n"}}}},
        Recovered{"Compressed", {.headers = {{"content-encoding", "gzip"}}, .chunks = {{"text x\nend\n"}}}},
        Recovered{"NoEventAtAll", answer("{\"result\":\"what is this\"}")},
        Recovered{"BusyInTheMiddle", answer("text half\nrefuse 2\n")}),
    [](const auto& test) { return test.param.name; });

struct Refused {
  std::string name;
  SimExchange first;
  std::string says;
};
class HttpModelGivesUp : public HttpModel, public testing::WithParamInterface<Refused> {};

TEST_P(HttpModelGivesUp, AtOnceOnWhatWillNeverWork) {
  script_ = {GetParam().first};
  const Reply reply = ask();
  EXPECT_EQ(reply.stop, ReplyStop::failed);
  EXPECT_THAT(reply.error, HasSubstr(GetParam().says));
  EXPECT_EQ(reply.message.text, "");
  EXPECT_EQ(requests_.size(), 1u);
  EXPECT_TRUE(retried_.empty());
  EXPECT_LT(elapsed(), seconds{1});
}

INSTANTIATE_TEST_SUITE_P(
    Http, HttpModelGivesUp,
    testing::Values(Refused{"S400", status(400, "bad request"), "bad request"},
                    Refused{"S401", status(401), "401"}, Refused{"S404", status(404), "404"},
                    Refused{"S307", status(307, "", {{"location", "https://elsewhere.example/v1"}}),
                            "redirects to https://elsewhere.example/v1"},
                    Refused{"ErrorWithStatus200", answer("{\"error\":\"out of order\"}"), "out of order"},
                    Refused{"RateLimitOfADay", status(429, "tomorrow", {{"retry-after", "86400"}}),
                            "at least 1h"}),
    [](const auto& test) { return test.param.name; });

TEST_F(HttpModel, VoidsWhatACutAttemptSaid) {
  script_ = {answer("text wrong\nused 50 7\n")};
  const Reply reply = ask();
  EXPECT_EQ(reply.message.text, "hello");
  EXPECT_EQ(streamed_, "wrong|hello");
  ASSERT_EQ(retried_.size(), 1u);
  EXPECT_EQ(retried_[0].usage.input, 50);
  EXPECT_EQ(retried_[0].usage.cost_micros, 170);
  EXPECT_EQ(reply.usage.input, 100);
}

TEST_F(HttpModel, EndsAfterEightAttempts) {
  script_ = {status(503, "down")};
  repeat_last_ = true;
  const Reply reply = ask();
  EXPECT_EQ(reply.stop, ReplyStop::failed);
  EXPECT_THAT(reply.error, HasSubstr("503: down"));
  EXPECT_THAT(reply.error, HasSubstr("Tried 8 times"));
  EXPECT_EQ(requests_.size(), 8u);
  EXPECT_EQ(retried_.size(), 7u);
  EXPECT_LE(elapsed(), seconds{127});
  EXPECT_GE(elapsed(), seconds{95});
}

TEST_F(HttpModel, EndsAfterFiveMinutesOfSilence) {
  script_ = {{.fault = SimFault::silence}};
  repeat_last_ = true;
  const Reply reply = ask();
  EXPECT_EQ(reply.stop, ReplyStop::failed);
  EXPECT_THAT(reply.error, HasSubstr("did not begin to answer within 1m"));
  EXPECT_LE(elapsed(), minutes{5} + seconds{60});
  EXPECT_EQ(requests_.size(), 5u);
}

TEST_F(HttpModel, DoesNotCountWaitingForARateLimit) {
  for (int i = 0; i < 30; ++i) script_.push_back(status(429, "busy", {{"retry-after", "60"}}));
  const Reply reply = ask();
  EXPECT_EQ(reply.stop, ReplyStop::finished) << reply.error;
  EXPECT_EQ(retried_.size(), 30u);
  EXPECT_EQ(retried_[0].wait, seconds{60});
  EXPECT_GE(elapsed(), minutes{30});
}

TEST_F(HttpModel, DoesNotWaitForARateLimitForEver) {
  script_ = {status(429, "busy")};
  repeat_last_ = true;
  const Reply reply = ask();
  EXPECT_EQ(reply.stop, ReplyStop::failed);
  EXPECT_THAT(reply.error, HasSubstr("Nothing was let through for 1h"));
  EXPECT_LE(elapsed(), minutes{62});
}

TEST_F(HttpModel, DoesNotBurnItsAttemptsOnATinyRetryAfter) {
  for (int i = 0; i < 10; ++i) script_.push_back(status(429, "busy", {{"retry-after", "0.1"}}));
  EXPECT_EQ(ask().stop, ReplyStop::finished);
  EXPECT_GE(elapsed(), seconds{30});
  EXPECT_LE(elapsed(), seconds{60});
}

TEST_F(HttpModel, ObeysARetryAfterOfAServerThatIsDown) {
  script_ = {status(503, "down", {{"retry-after", "20"}})};
  EXPECT_EQ(ask().stop, ReplyStop::finished);
  EXPECT_EQ(asked_at_.at(1), seconds{20});
}

// 429 and 529 are told apart by the dialects; this is for all others that say when to come back.
TEST_F(HttpModel, AServerThatIsDownIsLeftAloneByEverybody) {
  script_ = {status(503, "down", {{"retry-after", "20"}})};
  TaskGroup group(loop_);
  const auto ask_later = [](Loop& loop, HttpProvider& provider, Request request) -> Task<> {
    co_await sleep_for(loop, seconds{5}, {});
    const Reply reply = co_await provider.ask(request, {}, {});
    EXPECT_EQ(reply.stop, ReplyStop::finished);
  };
  const Request asked = request();
  group.spawn(ask_later(loop_, provider(), asked));
  EXPECT_EQ(run(loop_, provider().ask(asked, {}, {})).stop, ReplyStop::finished);
  run(loop_, group.join());
  ASSERT_EQ(asked_at_.size(), 3u);
  EXPECT_GE(asked_at_.at(1), seconds{20});
  EXPECT_GE(asked_at_.at(2), seconds{20});
}

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

TEST_F(HttpModel, EndsAtTheTerminalEventThoughTheServerKeepsTheLineOpen) {
  script_ = {{.chunks = {{"text hello\nend\n"}}, .fault = SimFault::silence, .fault_after = 15}};
  EXPECT_EQ(ask().message.text, "hello");
  EXPECT_LT(elapsed(), seconds{1});
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

TEST_F(HttpModel, HidesAKeyThatAnAnswerEchoes) {
  script_ = {status(401, "wrong key " + key_)};
  const Reply reply = ask();
  EXPECT_THAT(reply.error, HasSubstr("wrong key [redacted]"));
}

// Where a stop may come: while it streams, while it waits for its turn, between two attempts.
struct Stopped {
  std::string name;
  SimExchange first;
  Duration at;
};
class HttpModelStops : public HttpModel, public testing::WithParamInterface<Stopped> {};

Task<> stop_at(Loop& loop, Duration at, const StopSource* source) {
  co_await sleep_for(loop, at, {});
  source->request(StopReason::user);
}

TEST_P(HttpModelStops, AtOnce) {
  script_ = {GetParam().first};
  repeat_last_ = true;
  const StopSource source;
  TaskGroup group(loop_);
  group.spawn(stop_at(loop_, GetParam().at, &source));
  const Reply reply = ask(source.token());
  EXPECT_EQ(reply.stop, ReplyStop::stopped);
  EXPECT_EQ(elapsed(), GetParam().at);
  run(loop_, group.join());
}

INSTANTIATE_TEST_SUITE_P(
    Http, HttpModelStops,
    testing::Values(Stopped{"BeforeTheAnswer", {.fault = SimFault::silence}, seconds{5}},
                    Stopped{"InTheMiddle", {.chunks = {{"text x\n"}, {"text y\n", seconds{10}}}}, seconds{5}},
                    Stopped{"BetweenTwoAttempts", status(503), milliseconds{300}},
                    Stopped{"InLine", status(429, "busy", {{"retry-after", "60"}}), seconds{30}}),
    [](const auto& test) { return test.param.name; });

TEST_F(HttpModel, DoesNotBeginWhenItIsStoppedAlready) {
  const StopSource source;
  source.request(StopReason::user);
  EXPECT_EQ(ask(source.token()).stop, ReplyStop::stopped);
  EXPECT_TRUE(requests_.empty());
}

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

TEST_F(HttpModel, RecognisesAFullContextWhenTheProviderSaysSo) {
  script_ = {status(400, "prompt is too long")};
  const Reply reply = ask();
  EXPECT_EQ(reply.stop, ReplyStop::context_exhausted);
  EXPECT_EQ(requests_.size(), 1u);
}

Task<> ask_into(HttpProvider* provider, Request request, std::vector<Reply>* replies) {
  replies->push_back(co_await provider->ask(std::move(request), {}, {}));
}

TEST_F(HttpModel, AnswersManyAtOnce) {
  repeat_last_ = true;
  script_ = {{.chunks = {{"text hello\n", seconds{1}}, {"end\n", seconds{1}}}}};
  const Request same = request();
  std::vector<Reply> replies;
  TaskGroup group(loop_);
  for (int i = 0; i < 100; ++i) group.spawn(ask_into(&provider(), same, &replies));
  run(loop_, group.join());
  ASSERT_EQ(replies.size(), 100u);
  for (const Reply& reply : replies) EXPECT_EQ(reply.message.text, "hello");
  EXPECT_LE(elapsed(), seconds{4});  // hardly longer than one
}

}  // namespace
}  // namespace deputy
