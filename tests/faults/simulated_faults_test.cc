// Faults of every dialect's server in which time or the order of several requests counts, on a clock that
// jumps.
#include <gmock/gmock.h>

#include <deque>

#include "async/sim_loop.h"
#include "base/json.h"
#include "model/http_provider.h"
#include "net/sim_network.h"
#include "shapes.h"
#include "support/run.h"

namespace deputy {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class SimulatedFault : public testing::TestWithParam<Shape> {
 protected:
  SimulatedFault() {
    network_.define("http://model", [this](const HttpRequest& request) {
      bodies_.push_back(request.body);
      SimExchange next = script_.front();
      script_.pop_front();
      return next;
    });
  }

  static SimExchange streamed(std::string body) {
    return {.headers = {{"content-type", GetParam().content_type}}, .chunks = {{std::move(body)}}};
  }
  static SimExchange refused(std::string_view why) {
    return {.status = 400, .chunks = {{fmt::format(R"({{"error":{{"message":"{}"}}}})", why)}}};
  }

  Reply ask() {
    while (fragments_.size() < messages_.size())
      fragments_.push_back(provider_.encode(messages_[fragments_.size()]));
    return run(loop_,
               provider_.ask({.prefix = prefix_, .messages = messages_, .fragments = fragments_}, {}, {}));
  }
  // A call, as the model makes it, and its result.
  void add_step(const std::vector<std::string>& calls) {
    script_ = {streamed(joined(calls))};
    const Reply called = ask();
    ASSERT_EQ(called.message.calls.size(), 1u) << called.error;
    messages_.push_back(called.message);
    messages_.push_back(
        {.role = Role::tool, .results = {{called.message.calls[0].id, ToolStatus::ok, "hello", "Read"}}});
  }
  Duration elapsed() const { return loop_.clock().now().time_since_epoch(); }

  SimLoop loop_{1};
  SimNetwork network_{loop_};
  SeededRandom random_{1};
  Governors governors_{loop_};
  HttpProvider provider_{{.dialect = GetParam().dialect(),
                          .endpoint = {"http://model", "key"},
                          .key_variable = {},
                          .network = network_,
                          .loop = loop_,
                          .random = random_,
                          .governors = governors_,
                          .facts = [](const ModelName&) { return ModelFacts{.window = 1'000'000}; }}};
  std::shared_ptr<const RequestPrefix> prefix_ = std::make_shared<RequestPrefix>(
      RequestPrefix{.model = ModelName(GetParam().name + "/m"), .max_output_tokens = 500});
  std::vector<Message> messages_{{.text = "hi"}};
  std::vector<std::string> fragments_;
  std::deque<SimExchange> script_;
  std::vector<std::string> bodies_;
};

TEST_P(SimulatedFault, AnAnswerEndsThoughTheConnectionStaysOpen) {
  const std::string whole = joined(GetParam().text);
  SimExchange silent = streamed(whole);
  silent.fault = SimFault::silence;
  silent.fault_after = whole.size();
  SimExchange chatting = streamed(whole);
  for (int i = 0; i < 10'000; ++i) chatting.chunks.push_back({GetParam().ping, milliseconds{100}});
  script_ = {silent, chatting};
  for (const char* how : {"silent", "chatting"}) {
    const Duration began = elapsed();
    const Reply reply = ask();
    EXPECT_EQ(reply.stop, ReplyStop::finished) << how << ": " << reply.error;
    EXPECT_EQ(reply.message.text, kSaid) << how;
    EXPECT_LE(elapsed() - began, seconds{2}) << how;
  }
}

// What a provider wanted back as it came is what it may refuse, and can be written in another way.
TEST_P(SimulatedFault, AHistoryThatIsRefusedIsWrittenAnewOnce) {
  add_step(GetParam().thought);
  script_ = {refused("messages.1 is wrong"), refused("it still is")};
  const Reply refused_twice = ask();
  EXPECT_EQ(refused_twice.stop, ReplyStop::failed);
  EXPECT_THAT(refused_twice.error, testing::HasSubstr("it still is"));
  EXPECT_EQ(bodies_.size(), 3u) << "once";

  script_ = {refused("messages.1 is wrong"), streamed(joined(GetParam().text))};
  EXPECT_EQ(ask().stop, ReplyStop::finished);
  ASSERT_EQ(bodies_.size(), 5u);
  EXPECT_THAT(bodies_[3], testing::HasSubstr("sealed"));
  EXPECT_THAT(bodies_[4], testing::Not(testing::HasSubstr("sealed")));
  for (const std::string& body : bodies_) EXPECT_TRUE(parse_json(body)) << body;
  EXPECT_THAT(bodies_[4], testing::HasSubstr("hello")) << "the result of the call that is still there";

  script_ = {streamed(joined(GetParam().text))};
  messages_.push_back({.text = "go on"});
  EXPECT_EQ(ask().stop, ReplyStop::finished) << "what was refused is not sent again";
  EXPECT_THAT(bodies_.back(), testing::Not(testing::HasSubstr("sealed")));
}

// What is our own writing is valid as it is: the same once more would be refused once more.
TEST_P(SimulatedFault, AHistoryThatCannotBeWrittenDifferentlyIsNotSentTwice) {
  add_step(GetParam().calls);
  messages_[1].wire.clear();
  script_ = {refused("messages.1 is wrong")};
  const Reply reply = ask();
  EXPECT_EQ(reply.stop, ReplyStop::failed);
  EXPECT_THAT(reply.error, testing::HasSubstr("messages.1 is wrong"));
}

INSTANTIATE_TEST_SUITE_P(All, SimulatedFault, testing::ValuesIn(shapes()), [](const auto& info) {
  std::string name = info.param.name;
  std::ranges::replace(name, '-', '_');
  return name;
});

}  // namespace
}  // namespace deputy
