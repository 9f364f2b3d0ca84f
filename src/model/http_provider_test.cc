// One request in, one Reply out: what is sent, what comes of it, how it is stopped.
#include "async/sleep.h"
#include "async/task_group.h"
#include "model/http_model.h"

namespace deputy {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;

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

// The tokens are estimated, so that limits on them hold: a cost of nothing would be a lie.
TEST_F(HttpModel, WhatAServerDoesNotCountHasAnUnknownCost) {
  script_ = {answer("text hello\nend\n"), good()};
  const Reply uncounted = ask();
  EXPECT_EQ(uncounted.usage.cost_micros, std::nullopt);
  EXPECT_GT(uncounted.usage.input, 0);
  EXPECT_GT(uncounted.usage.output, 0);
  const Reply counted = ask();
  EXPECT_EQ(counted.usage.cost_micros, 400);
  EXPECT_EQ((uncounted.usage + counted.usage).cost_micros, std::nullopt);
  facts_.price = Price{.input = 0, .output = 0};
  script_ = {answer("text hello\nend\n")};
  EXPECT_EQ(ask().usage.cost_micros, 0) << "what is free is free however much it is";
}

TEST_F(HttpModel, TellsNoPasswordOfAnAddress) {
  base_url_ = "http://me:pw@toy";
  network_.define("http://me:pw@toy", [](const HttpRequest&) {
    return SimExchange{.headers = {{"content-type", "text/html"}}, .chunks = {{"<html>"}}};
  });
  EXPECT_THAT(ask().error, testing::StartsWith("toy answered with a web page"));
  for (const Retried& retried : retried_) EXPECT_THAT(retried.reason, testing::Not(HasSubstr("pw")));
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
  EXPECT_LE(elapsed(), seconds{4});         // hardly longer than one
  EXPECT_EQ(asked_at_.at(63), Duration{});  // nobody has been turned down
}

}  // namespace
}  // namespace deputy
