#include "net/sim_network.h"

#include <chrono>
#include <string>
#include <vector>

#include "async/sim_loop.h"
#include "async/sleep.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "support/run.h"

namespace deputy {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;

class SimNetworkTest : public testing::Test {
 protected:
  Result<HttpEnd> ask(const std::string& url) {
    const HttpSink sink{.start = [this](const HttpResponse& got) { statuses.push_back(got.status); },
                        .bytes =
                            [this](std::string_view got) {
                              bytes.emplace_back(got);
                              if (stop_on_bytes) stop.request(StopReason::user);
                            }};
    return run(loop, network.exchange({.url = url}, sink, stop.token()));
  }
  Duration passed() const { return loop.clock().now() - TimePoint{}; }

  SimLoop loop{1};
  SimNetwork network{loop};
  StopSource stop;
  bool stop_on_bytes = false;
  std::vector<int> statuses;
  std::vector<std::string> bytes;
};

TEST_F(SimNetworkTest, PlaysTheScriptOfTheLongestPrefixOnTheLoopsClock) {
  network.define("http://a/", [](const auto&) { return SimExchange{.status = 404}; });
  network.define("http://a/v1", [](const HttpRequest& request) {
    EXPECT_EQ(request.url, "http://a/v1/x");
    return SimExchange{.headers = {{"retry-after", "3"}},
                       .chunks = {{"one", seconds(1)}, {"two", seconds(2)}},
                       .delay = seconds(4)};
  });
  const auto end = ask("http://a/v1/x");
  ASSERT_TRUE(end);
  EXPECT_EQ(end->status, 200);
  EXPECT_EQ(find_header(end->headers, "Retry-After"), "3");
  EXPECT_EQ(find_header(end->headers, "retry"), std::nullopt);
  EXPECT_EQ(end->bytes, 6u);
  EXPECT_THAT(statuses, ElementsAre(200));
  EXPECT_THAT(bytes, ElementsAre("one", "two"));
  EXPECT_EQ(passed(), seconds(7));
}

TEST_F(SimNetworkTest, RefusesWhatIsRefusedOrUnknown) {
  network.define("http://a/", [](const auto&) { return SimExchange{.fault = SimFault::refused}; });
  EXPECT_EQ(ask("http://a/").error().code, ErrorCode::unavailable);
  EXPECT_EQ(ask("http://b/").error().code, ErrorCode::unavailable);
  EXPECT_TRUE(statuses.empty());
}

TEST_F(SimNetworkTest, AnUnreachableHostTakesTheConnectTimeout) {
  network.define("http://a/", [](const auto&) { return SimExchange{.fault = SimFault::unreachable}; });
  EXPECT_EQ(ask("http://a/").error().code, ErrorCode::timeout);
  EXPECT_EQ(passed(), seconds(10));
}

TEST_F(SimNetworkTest, CutsAfterTheBytesThatTheScriptSays) {
  network.define("http://a/", [](const auto&) {
    return SimExchange{.chunks = {{"abc"}, {"def"}, {"ghi"}}, .fault = SimFault::cut, .fault_after = 4};
  });
  EXPECT_EQ(ask("http://a/").error().code, ErrorCode::io);
  EXPECT_THAT(statuses, ElementsAre(200));
  EXPECT_THAT(bytes, ElementsAre("abc", "d"));
}

TEST_F(SimNetworkTest, CutsBeforeTheStatus) {
  network.define("http://a/", [](const auto&) { return SimExchange{.fault = SimFault::cut}; });
  EXPECT_EQ(ask("http://a/").error().code, ErrorCode::io);
  EXPECT_TRUE(statuses.empty());
}

TEST_F(SimNetworkTest, SilenceLastsUntilTheStop) {
  network.define("http://a/", [](const auto&) {
    return SimExchange{.chunks = {{"abc"}}, .fault = SimFault::silence, .fault_after = 3};
  });
  stop.set_deadline(loop.timers(), loop.clock().now() + seconds(30));
  EXPECT_EQ(ask("http://a/").error().code, ErrorCode::cancelled);
  EXPECT_THAT(bytes, ElementsAre("abc"));
  EXPECT_EQ(passed(), seconds(30));
}

TEST_F(SimNetworkTest, NothingArrivesAfterAStopFromTheSink) {
  network.define("http://a/", [](const auto&) { return SimExchange{.chunks = {{"abc"}, {"def"}}}; });
  stop_on_bytes = true;
  EXPECT_EQ(ask("http://a/").error().code, ErrorCode::cancelled);
  EXPECT_THAT(bytes, ElementsAre("abc"));
}

Task<> note_after_a_second(Loop& loop, std::string* order) {
  co_await sleep_for(loop, seconds(1), {});
  *order += '.';
}

TEST_F(SimNetworkTest, MoreComesOnlyWhenTheSinkHasDrained) {
  network.define("http://a/", [](const auto&) { return SimExchange{.chunks = {{"abc"}, {"def"}}}; });
  std::string order;
  const HttpSink sink{.bytes = [&](std::string_view got) { order += got; },
                      .drain = [&] { return note_after_a_second(loop, &order); }};
  EXPECT_TRUE(run(loop, network.exchange({.url = "http://a/"}, sink, {})));
  EXPECT_EQ(order, "abc.def.");
}

class SimNetworkReachTest : public SimNetworkTest {
 protected:
  std::string fetch(const std::string& url, Reach reach = Reach::public_only) {
    const auto end = run(loop, network.exchange({.url = url, .reach = reach}, {}, {}));
    return end ? "reached" : std::string(name_of(end.error().code));
  }
  SimNetwork::Server counting = [this](const auto&) {
    ++reached;
    return SimExchange{};
  };
  int reached = 0;
};

TEST_F(SimNetworkReachTest, PublicOnlyGoesByTheAddressThatAHostStandsFor) {
  network.define("http://", counting);
  network.define("http://inside/", counting, {"10.0.0.1"});
  EXPECT_EQ(fetch("http://example.org/"), "reached");
  EXPECT_EQ(fetch("http://8.8.8.8/"), "reached");
  for (const auto url : {"http://inside/", "http://127.0.0.1/", "http://[::1]/", "http://localhost/",
                         "http://169.254.169.254/", "http://example.org:8080/"}) {
    const int before = reached;
    EXPECT_EQ(fetch(url), "denied") << url;
    EXPECT_EQ(reached, before);
    EXPECT_EQ(fetch(url, Reach::anywhere), "reached") << url;
  }
}

TEST_F(SimNetworkReachTest, ANameMayLeadElsewhereTheNextTime) {
  network.define("http://rebind/", counting, {"8.8.8.8", "127.0.0.1"});
  EXPECT_EQ(fetch("http://rebind/"), "reached");
  EXPECT_EQ(fetch("http://rebind/"), "denied");
  EXPECT_EQ(fetch("http://rebind/"), "denied");
  EXPECT_EQ(reached, 1);
}

}  // namespace
}  // namespace deputy
