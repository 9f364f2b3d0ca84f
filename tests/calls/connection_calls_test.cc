// Whichever call of the system fails while a connection is made and used: each exchange ends once, with its
// answer or with what happened, no descriptor is left, and who asks afterwards is answered.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <netdb.h>

#include <array>
#include <cerrno>
#include <fstream>
#include <map>
#include <set>

#include "async/sleep.h"
#include "failing_connection.h"
#include "net/curl_test.h"
#include "support/held.h"
#include "support/http2_peer.h"
#include "support/temp_folder.h"
#include "support/test_authority.h"

namespace deputy {
namespace {

using calls::FailingConnection;
using calls::FailingLookup;
using calls::kServerName;
using testing::AnyOf;
using testing::HasSubstr;
using testing::IsSupersetOf;
using How = FailingConnection::How;

constexpr std::string_view kAnswer = "hello";
constexpr auto kTooLong = std::chrono::seconds(30);
constexpr std::ptrdiff_t kMostConnections = 2;  // for the exchanges below
constexpr int kMostMore = 100;  // calls than the first time: how often a socket is polled is up to chance

// What is spoken, and how the server is found.
struct Way {
  std::string name;
  std::vector<std::string> protocols = {};  // with TLS; none: without it
  Reach reach = Reach::anywhere;
  bool is_looked_up = false;

  bool has_tls() const { return !protocols.empty(); }
  bool is_http2() const { return has_tls() && protocols.front() == "h2"; }
};

const Way kHttp1{.name = "Http1", .is_looked_up = true};
const Way kGuarded{.name = "Guarded", .reach = Reach::public_only};
const Way kTls{.name = "Tls", .protocols = {"http/1.1"}};
const Way kHttp2{.name = "Http2", .protocols = {"h2"}};

struct Exchange {
  Result<HttpEnd> end;
  Seen seen;
};
using Exchanges = std::array<Exchange, 3>;

// One that does not end is stopped, and then it has ended as it must not.
Task<> ask_one(SystemLoop& loop, Network& network, HttpRequest request, Exchange* exchange) {
  StopSource stop;
  const auto deadline =
      loop.timers().call_at(loop.clock().now() + kTooLong, [&stop] { stop.request(StopReason::deadline); });
  exchange->end = co_await network.exchange(std::move(request), exchange->seen.sink(), stop.token());
  loop.timers().cancel(deadline);
}

// One alone, then two at once: a connection is made, it is used again, and there may be a second one.
Task<> ask_three(SystemLoop& loop, Network& network, HttpRequest request, Exchanges* all) {
  co_await ask_one(loop, network, request, &(*all)[0]);
  TaskGroup group(loop);
  group.spawn(ask_one(loop, network, request, &(*all)[1]));
  group.spawn(ask_one(loop, network, request, &(*all)[2]));
  co_await group.join();
}

void answer_texts(Peer& peer) { answer_all(peer, std::string(kAnswer)); }

void answer_streams(Peer& peer) {
  Http2Peer http(peer, 100);
  while (const auto stream = http.next_request())
    http.start(stream, 200), http.send(stream, std::string(kAnswer)), http.end(stream);
}

void expect_ended_once(const Exchange& exchange, const std::string& origin) {
  const auto& [end, seen] = exchange;
  if (end) {
    EXPECT_EQ(seen.starts.size(), 1u);
    EXPECT_EQ(seen.body, kAnswer);
    return;
  }
  EXPECT_LE(seen.starts.size(), 1u);
  EXPECT_TRUE(kAnswer.starts_with(seen.body)) << seen.body;
  const Error& error = end.error();
  EXPECT_THAT(name_of(error.code), AnyOf("unavailable", "io", "timeout")) << to_text(error);
  EXPECT_THAT(error.message, HasSubstr(origin));
  EXPECT_FALSE(error.advice.empty()) << error.message;
}

struct Fault {
  std::string_view call;
  int at = 0;
  std::size_t choice = 0;
  How how = How::alone;
};

struct Tried {
  FailingConnection::Refused refused;
  std::map<std::string_view, int> made;
  Exchanges exchanges;
};

class ConnectionCalls : public testing::TestWithParam<Way> {
 protected:
  ConnectionCalls() {
    static const TestAuthority authority;
    std::ofstream(folder_.file("ca.pem")) << authority.pem();
    if (GetParam().has_tls()) tls_ = authority.server("IP:127.0.0.1", GetParam().protocols);
    made_ = use_server_and_network({}).first.made;  // what is opened once is open from here on
  }

  std::unique_ptr<CurlNetwork> new_network() {
    return std::make_unique<CurlNetwork>(
        loop_, CurlOptions{.ca_file = folder_.file("ca.pem"), .is_public = [](const auto&) { return true; }});
  }
  static HttpRequest request_to(const LoopbackServer& server) {
    return {.method = "POST",
            .url = fmt::format("{}://{}:{}", GetParam().has_tls() ? "https" : "http",
                               GetParam().is_looked_up ? kServerName : "127.0.0.1", server.port()),
            .body = "a question",
            .connect_timeout = 2 * kTooLong,
            .reach = GetParam().reach};
  }

  // The server has gone, and with it its descriptors: those left are the network's.
  std::pair<Tried, std::unique_ptr<CurlNetwork>> use_server_and_network(const Fault& fault) {
    const LoopbackServer server(GetParam().is_http2() ? answer_streams : answer_texts, tls_);
    const HttpRequest request = request_to(server);
    std::unique_ptr<CurlNetwork> network;
    Tried tried;
    {
      const FailingConnection failing(fault.call, fault.at, fault.choice, fault.how);
      network = new_network();
      run(loop_, ask_three(loop_, *network, request, &tried.exchanges));
      tried.refused = failing.refused();
      tried.made = failing.made();
    }
    for (const Exchange& each : tried.exchanges) expect_ended_once(each, request.url);
    Exchange later;
    run(loop_, ask_one(loop_, *network, request, &later));
    EXPECT_TRUE(later.end) << to_text(later.end.error());
    expect_ended_once(later, request.url);
    return {std::move(tried), std::move(network)};
  }

  // A thread that looks up a name for nobody any more closes what it has when it ends.
  std::ptrdiff_t descriptors_left(std::ptrdiff_t most) {
    const auto limit = loop_.clock().now() + kTooLong;
    while (Held::now().descriptors > most && loop_.clock().now() < limit)
      run(loop_, sleep_for(loop_, std::chrono::milliseconds(1), {}));
    return Held::now().descriptors;
  }

  FailingConnection::Refused refuse(const Fault& fault) {
    SCOPED_TRACE(fmt::format("{} {}, reason {}", fault.call, fault.at, fault.choice));
    const auto before = Held::now().descriptors;
    auto [tried, network] = use_server_and_network(fault);
    const auto used = Held::now().descriptors;
    network = new_network();
    EXPECT_LE(used, Held::now().descriptors + kMostConnections) << "one that nobody uses is left";
    network.reset();
    EXPECT_EQ(Held::now().descriptors, before);
    const int reason = tried.refused.reason;
    ++tried_;
    refused_ += reason != 0 ? 1 : 0;
    if (reason == 0) EXPECT_LT(tried.made[fault.call], fault.at) << "it was made and not refused";
    if (reason == 0 || (fault.how == How::alone && does_no_harm(fault.call, reason)))
      for (const Exchange& each : tried.exchanges) EXPECT_TRUE(each.end) << to_text(each.end.error());
    return tried.refused;
  }

  // What is tried again, or done without.
  static bool does_no_harm(std::string_view call, int reason) {
    static const std::set<std::string_view> kDoneWithout{"epoll_ctl", "getpeername", "getsockname",
                                                         "setsockopt"};
    return reason == EAGAIN || reason == EINTR || kDoneWithout.contains(call);
  }

  std::map<std::string_view, int> made_;  // calls, where none is refused
  std::size_t tried_ = 0;
  std::size_t refused_ = 0;  // of these: the others were not made as often
  SystemLoop loop_;
  TempFolder folder_;
  std::shared_ptr<SSL_CTX> tls_;
};

// Further ones as the versions of the libraries have it.
TEST_P(ConnectionCalls, AreMadeByWhatIsTried) {
  std::set<std::string_view> made;
  for (const auto& [call, times] : made_) made.insert(call);
  EXPECT_THAT(made,
              IsSupersetOf({"connect", "epoll_ctl", "getsockopt", "recv", "send", "setsockopt", "socket"}));
}

TEST_P(ConnectionCalls, WhicheverFailsAnExchangeEndsOnceAndTheNextIsAnswered) {
  const std::size_t stride = GetParam().has_tls() ? 7 : 1;  // it waits for acknowledgements that come late
  std::size_t met = 0;
  for (const auto& [call, times] : made_)
    for (int at = 1; at <= times; ++at, ++met) {
      if (met % stride != 0) continue;
      refuse({call, at, met / stride});
      if (stride == 1) refuse({call, at, 0, How::and_all_after});
    }
  EXPECT_GT(met, 20u);
  EXPECT_GT(3 * refused_, tried_) << "only " << refused_ << " of " << tried_ << " were made again";
}

using ConnectionCallsExhaustive = ConnectionCalls;

TEST_P(ConnectionCallsExhaustive, WhicheverFailsForWhateverReasonAnExchangeEndsOnceAndTheNextIsAnswered) {
  for (const auto& [call, times] : made_) {
    for (int at = 1;; ++at) {
      ASSERT_LT(at, times + kMostMore) << call;
      const auto refused = refuse({call, at});
      if (refused.reason == 0) break;
      for (std::size_t choice = 1; choice < refused.choices; ++choice) refuse({call, at, choice});
      refuse({call, at, 0, How::and_all_after});
    }
  }
  EXPECT_GT(refused_, made_.size()) << "not even the first of each";
  fmt::print("figures: {} calls of a connection refused over {}\n", refused_, GetParam().name);
}

const auto kWays = testing::Values(kHttp1, kGuarded, kTls, kHttp2);
std::string name_of_way(const testing::TestParamInfo<Way>& tried) { return tried.param.name; }
INSTANTIATE_TEST_SUITE_P(Over, ConnectionCalls, kWays, name_of_way);
INSTANTIATE_TEST_SUITE_P(Over, ConnectionCallsExhaustive, kWays, name_of_way);

using NameLookups = CurlTest;

TEST_F(NameLookups, WhicheverFailsIsSaidAndTheNextIsAnswered) {
  const LoopbackServer server(answer_texts);
  const std::string url = fmt::format("http://{}:{}", kServerName, server.port());
  for (const int reason : {EAI_AGAIN, EAI_FAIL, EAI_MEMORY, EAI_NONAME, EAI_SYSTEM}) {
    use({});
    {
      const FailingLookup failing(reason);
      const auto end = ask({.url = url});
      ASSERT_FALSE(end) << ::gai_strerror(reason);
      EXPECT_EQ(end.error().code, ErrorCode::unavailable);
      EXPECT_THAT(end.error().message, HasSubstr(url + ": "));
      EXPECT_EQ(end.error().advice, "check the name and the network");
    }
    EXPECT_TRUE(ask({.url = url}));
  }
}

}  // namespace
}  // namespace deputy
