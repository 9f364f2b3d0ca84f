// What is tried again, what is not, and for how long.
#include "async/sleep.h"
#include "async/task_group.h"
#include "model/http_model.h"

namespace deputy {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using testing::HasSubstr;
using testing::Not;

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
                            "at least 24h 00m"}),
    [](const auto& test) { return test.param.name; });

TEST_F(HttpModel, NamesWhatWasMeantWhereTheProviderHasNoSuchModel) {
  const auto named = [&](const char* model) {
    prefix_ = std::make_shared<RequestPrefix>(RequestPrefix{.model = ModelName(model)});
    return ask().error;
  };
  script_ = {status(404)};
  repeat_last_ = true;
  EXPECT_THAT(named("anthropic/claude-hiku-4-5"), HasSubstr("; did you mean claude-haiku-4-5"));
  EXPECT_THAT(named("anthropic/claude-haiku-4-5"), Not(HasSubstr("did you mean"))) << "it may be the address";
  EXPECT_THAT(named("anthropic/of-my-own"), Not(HasSubstr("did you mean")));
  script_ = {status(401)};
  EXPECT_THAT(named("anthropic/claude-hiku-4-5"), Not(HasSubstr("did you mean")));
  EXPECT_EQ(requests_.size(), 4u);
}

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
  EXPECT_EQ(reply.stop, ReplyStop::stalled);
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

TEST_F(HttpModel, DoesNotWaitForEverForOneThatSaysItOnlyInTheMiddle) {
  for (const char* refusal : {"refuse 0\n", "refuse 2\n"}) {
    const Duration began = elapsed();
    requests_.clear();
    script_ = {answer(std::string("text half\n") + refusal)};
    repeat_last_ = true;
    const Reply reply = ask();
    EXPECT_EQ(reply.stop, ReplyStop::failed);
    EXPECT_THAT(reply.error, HasSubstr("Nothing was let through for 1h"));
    EXPECT_LE(elapsed() - began, minutes{62});
    EXPECT_LE(requests_.size(), 200u) << "it is left alone for longer each time";
  }
}

TEST_F(HttpModel, WaitsOnWhereOthersAreLetThrough) {
  const auto busy_for = minutes{90};
  int turned_down = 0;
  network_.define("http://toy", [&](const HttpRequest& request) {
    const bool is_first = request.body.contains("first");
    if (is_first && elapsed() < busy_for) {
      ++turned_down;
      return SimExchange{.chunks = {{"text half\n"}, {"refuse 30\n", seconds{5}}}};
    }
    return good();
  });
  messages_ = {{.text = "first"}};
  const std::vector<std::string> first{"<first>"};
  const std::vector<std::string> other{"<other>"};
  const auto others = [](Loop& loop, HttpProvider& provider, Request request) -> Task<> {
    for (int i = 0; i < 8; ++i) {
      co_await sleep_for(loop, minutes{10}, {});
      EXPECT_EQ((co_await provider.ask(request, {}, {})).stop, ReplyStop::finished);
    }
  };
  TaskGroup group(loop_);
  group.spawn(others(loop_, provider(), {.prefix = prefix_, .messages = messages_, .fragments = other}));
  const Reply reply =
      run(loop_, provider().ask({.prefix = prefix_, .messages = messages_, .fragments = first}, {}, {}));
  run(loop_, group.join());
  EXPECT_EQ(reply.stop, ReplyStop::finished) << reply.error;
  EXPECT_GE(turned_down, 60);
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

// A turn that goes back unchanged is what a server may refuse of a history.
TEST_F(HttpModel, WritesAHistoryThatIsRefusedAnewOnce) {
  messages_ = {{.text = "hi"}, {.role = Role::assistant, .text = "yes", .wire = "toy\nas it came"}};
  fragments_ = {provider().encode(messages_[0]), provider().encode(messages_[1])};
  script_ = {status(400, "orphan"), good()};
  EXPECT_EQ(ask().stop, ReplyStop::finished);
  ASSERT_EQ(requests_.size(), 2u);
  EXPECT_EQ(requests_[0].body, "[Be brief.|<hi>,as it came,<hi>|500]");
  EXPECT_EQ(requests_[1].body, "[Be brief.|<hi>,<yes>,<hi>|500]");
  ASSERT_EQ(retried_.size(), 1u);
  EXPECT_THAT(retried_[0].reason, HasSubstr("orphan"));
}

TEST_F(HttpModel, GivesUpAHistoryThatIsRefusedAlsoWhenItIsWrittenAnew) {
  messages_ = {{.role = Role::assistant, .text = "yes", .wire = "toy\nas it came"}};
  fragments_ = {provider().encode(messages_[0])};
  script_ = {status(400, "orphan"), status(400, "still"), good()};
  const Reply reply = ask();
  EXPECT_EQ(reply.stop, ReplyStop::failed);
  EXPECT_THAT(reply.error, HasSubstr("still"));
  EXPECT_EQ(requests_.size(), 2u) << "once";
  EXPECT_EQ(ask().stop, ReplyStop::finished);
  EXPECT_THAT(requests_.back().body, HasSubstr("as it came")) << "that was not what was wrong with it";
}

TEST_F(HttpModel, DoesNotSendAgainWhatWentThroughOnlyWhenItWasWrittenAnew) {
  messages_ = {{.role = Role::assistant, .text = "yes", .wire = "toy\nas it came"}};
  fragments_ = {provider().encode(messages_[0])};
  script_ = {status(400, "orphan"), good()};
  EXPECT_EQ(ask().stop, ReplyStop::finished);
  messages_.push_back({.role = Role::assistant, .text = "more", .wire = "toy\nas this came"});
  fragments_.push_back(provider().encode(messages_.back()));
  EXPECT_EQ(ask().stop, ReplyStop::finished);
  EXPECT_EQ(requests_.size(), 3u) << "no second refusal";
  EXPECT_EQ(requests_.back().body, "[Be brief.|<yes>,<hi>,as this came,<hi>|500]");
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

// A parent whose request never fits, and a child beside it.
TEST_F(HttpModel, OneThatIsAlwaysTurnedDownDoesNotKeepTheOthers) {
  network_.define("http://toy", [&](const HttpRequest& request) {
    const bool is_large = request.body.contains("large");
    return is_large ? status(429, "quota", {{"retry-after", "3"}}) : good();
  });
  messages_ = {{.text = "hi"}};
  const std::vector<std::string> large{"<large>"};
  const std::vector<std::string> small{"<small>"};
  std::vector<Duration> answered{Duration{}};
  const auto others = [](Loop& loop, HttpProvider& provider, Request request, std::vector<Duration>* answered,
                         const StopSource* stop) -> Task<> {
    while (answered->back() < minutes{5}) {
      EXPECT_EQ((co_await provider.ask(request, {}, {})).stop, ReplyStop::finished);
      answered->push_back(loop.clock().now().time_since_epoch());
      co_await sleep_for(loop, seconds{1}, {});
    }
    stop->request(StopReason::user);
  };
  const StopSource stop;
  TaskGroup group(loop_);
  group.spawn(others(loop_, provider(),
                     {.prefix = prefix_, .messages = messages_, .fragments = small, .depth = 1}, &answered,
                     &stop));
  const Reply reply =
      run(loop_,
          provider().ask({.prefix = prefix_, .messages = messages_, .fragments = large}, {}, stop.token()));
  run(loop_, group.join());
  EXPECT_EQ(reply.stop, ReplyStop::stopped);
  for (std::size_t i = 1; i < answered.size(); ++i)
    EXPECT_LE(answered[i] - answered[i - 1], seconds{10}) << "kept back at " << to_text(answered[i]);
}

TEST_F(HttpModel, SharesItsPaceWithAnotherWayToTheSameModel) {
  script_ = {status(429, "busy", {{"retry-after", "30"}}), good(), good()};
  const auto ask_in_another_tongue = [](Loop& loop, HttpProvider& provider, Request request) -> Task<> {
    co_await sleep_for(loop, seconds{5}, {});
    EXPECT_EQ((co_await provider.ask(request, {}, {})).stop, ReplyStop::finished);
  };
  Request other = request();
  other.prefix = std::make_shared<RequestPrefix>(RequestPrefix{.model = ModelName("toy-chat/one")});
  TaskGroup group(loop_);
  group.spawn(ask_in_another_tongue(loop_, provider(), other));
  Request first = other;
  first.prefix = prefix_;
  EXPECT_EQ(run(loop_, provider().ask(first, {}, {})).stop, ReplyStop::finished);
  run(loop_, group.join());
  ASSERT_EQ(asked_at_.size(), 3u);
  EXPECT_GE(asked_at_.at(1), seconds{30});
  EXPECT_GE(asked_at_.at(2), seconds{30});
}

}  // namespace
}  // namespace deputy
