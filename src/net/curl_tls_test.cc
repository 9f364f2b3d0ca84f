#include <atomic>
#include <fstream>
#include <latch>
#include <memory>
#include <string>

#include "async/sleep.h"
#include "gmock/gmock.h"
#include "net/curl_test.h"
#include "net/http2_pool.h"
#include "support/http2_peer.h"
#include "support/temp_folder.h"
#include "support/test_authority.h"

namespace deputy {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;
using testing::StartsWith;

const std::string kAddress = "IP:127.0.0.1";
using Protocols = std::vector<std::string>;

Task<> turn(Loop& loop) { co_await sleep_for(loop, {}, {}); }

class CurlTlsTest : public CurlTest {
 protected:
  CurlTlsTest() { use(trusting(authority)); }
  CurlOptions trusting(const TestAuthority& trusted) {
    std::ofstream(folder.file("ca.pem")) << trusted.pem();
    return {.ca_file = folder.file("ca.pem")};
  }
  static std::string url_of(const LoopbackServer& server) { return "https://" + server.address() + "/"; }
  Error error_of(const LoopbackServer& server) {
    const auto end = ask({.url = url_of(server)}, seen.sink());
    EXPECT_FALSE(end);
    EXPECT_TRUE(seen.starts.empty());
    return end ? Error{} : end.error();
  }
  TempFolder folder;
  const TestAuthority authority;
};

TEST_F(CurlTlsTest, SpeaksHttp1WhereTheServerSpeaksNothingElse) {
  for (const Protocols& protocols : {Protocols{}, Protocols{"http/1.1"}}) {
    const LoopbackServer server([](Peer& peer) { answer_all(peer, "hello"); },
                                authority.server(kAddress, protocols));
    for (int i = 0; i < 3; ++i) {
      seen.body.clear();
      const auto end = ask({.url = url_of(server)}, seen.sink());
      ASSERT_TRUE(end) << to_text(end.error());
      EXPECT_EQ(seen.body, "hello");
    }
    EXPECT_EQ(server.connections(), 2);  // the one that found out, and one for all that follow
  }
}

TEST_F(CurlTlsTest, SpeaksHttp2WhereTheServerDoes) {
  const LoopbackServer server(
      [](Peer& peer) {
        Http2Peer http(peer, 100);
        while (const auto stream = http.next_request()) {
          http.start(stream, 429), http.send(stream, "slow"), http.send(stream, " down"), http.end(stream);
        }
      },
      authority.server(kAddress, {"h2", "http/1.1"}));
  for (int i = 0; i < 3; ++i) {
    seen = {};
    const auto end = ask({.method = "POST", .url = url_of(server), .body = "x"}, seen.sink());
    ASSERT_TRUE(end) << to_text(end.error());
    EXPECT_EQ(end->status, 429);
    EXPECT_EQ(seen.body, "slow down");
  }
  EXPECT_EQ(server.connections(), 1);
}

TEST_F(CurlTlsTest, AnUnknownAuthorityIsRefused) {
  bool asked = false;
  LoopbackServer server([&](Peer& peer) { asked = !peer.read_request().empty(); },
                        TestAuthority().server(kAddress, {"http/1.1"}));
  const Error error = error_of(server);
  server.finish();
  EXPECT_EQ(error.code, ErrorCode::unavailable);
  EXPECT_THAT(error.advice, HasSubstr("CA file"));
  EXPECT_FALSE(asked);
}

TEST_F(CurlTlsTest, ACertificateForAnotherNameIsRefused) {
  for (const std::string subject : {"DNS:other.test", "IP:127.0.0.2", "DNS:127.0.0.1"}) {
    const LoopbackServer server([](Peer& peer) { answer_all(peer, "x"); }, authority.server(subject, {}));
    EXPECT_EQ(error_of(server).code, ErrorCode::unavailable) << subject;
  }
}

TEST_F(CurlTlsTest, AnExpiredCertificateIsRefused) {
  const LoopbackServer server([](Peer& peer) { answer_all(peer, "x"); },
                              authority.server(kAddress, {}, TestAuthority::Validity::expired));
  EXPECT_EQ(error_of(server).code, ErrorCode::unavailable);
}

TEST_F(CurlTlsTest, AMissingCaFileIsSaid) {
  use({.ca_file = folder.file("none.pem")});
  const LoopbackServer server([](Peer& peer) { answer_all(peer, "x"); }, authority.server(kAddress, {}));
  const Error error = error_of(server);
  EXPECT_EQ(error.code, ErrorCode::unavailable);
  EXPECT_EQ(error.advice, "check the CA file");
}

TEST_F(CurlTlsTest, ManyExchangesWithAnHttp1ServerGoOnAtOnce) {
  constexpr int kMany = 128;  // more than HTTP/2 would put on one connection
  std::latch all_asked(kMany);
  const LoopbackServer server(
      [&](Peer& peer) {
        if (peer.read_request().empty()) return;
        all_asked.arrive_and_wait();
        peer.write(answer("x"));
      },
      authority.server(kAddress, {"http/1.1"}));
  EXPECT_EQ(ask_at_once(url_of(server), kMany), kMany);
  EXPECT_EQ(server.connections(), kMany + 1);  // and the one that found out
}

// Answers none of the first `held` requests before all of them have come.
LoopbackServer::Play holding_http2(std::latch& held, std::uint32_t most_streams) {
  return [&held, most_streams](Peer& peer) {
    Http2Peer http(peer, most_streams);
    std::vector<std::uint32_t> streams;
    for (;;) {
      const auto stream = http.next_request();
      if (!stream) return;
      held.count_down();
      streams.push_back(stream);
      if (!held.try_wait()) continue;
      for (const auto each : std::exchange(streams, {})) http.start(each, 200), http.end(each);
    }
  };
}

TEST_F(CurlTlsTest, ManyExchangesWithAnHttp2ServerShareOneConnection) {
  constexpr int kMany = 64;
  std::latch held(kMany);
  const LoopbackServer server(holding_http2(held, 100), authority.server(kAddress, {"h2"}));
  EXPECT_EQ(ask_at_once(url_of(server), kMany), kMany);
  EXPECT_EQ(server.connections(), 1);
}

TEST_F(CurlTlsTest, MoreExchangesThanAConnectionTakesHaveAFewConnections) {
  constexpr int kMany = 450;
  const LoopbackServer server(
      [](Peer& peer) {
        Http2Peer http(peer, 100);
        while (const auto stream = http.next_request()) http.start(stream, 200), http.end(stream);
      },
      authority.server(kAddress, {"h2"}));
  EXPECT_EQ(ask_at_once(url_of(server), kMany), kMany);
  EXPECT_LE(server.connections(), 6);  // as many as they fill, and one
}

TEST_F(CurlTlsTest, ManyConnectionsAreReadByTurnsAndNothingIsLost) {
  constexpr int kMany = 3 * int(kFewConnections);
  const std::string body(300'000, 'x');
  std::latch all_asked(kMany);
  const LoopbackServer server(
      [&](Peer& peer) {
        Http2Peer http(peer, 1);
        const auto stream = http.next_request();
        if (!stream) return;
        all_asked.arrive_and_wait();
        http.start(stream, 200), http.send(stream, body), http.end(stream);
        peer.closes_within();
      },
      authority.server(kAddress, {"h2"}));
  std::vector<Result<HttpEnd>> ends;
  run(loop, ask_all(loop, *network, std::vector(kMany, HttpRequest{.url = url_of(server)}), &ends));
  for (const auto& end : ends) {
    ASSERT_TRUE(end) << to_text(end.error());
    EXPECT_EQ(end->bytes, body.size());
  }
  EXPECT_EQ(server.connections(), kMany);
}

TEST(Http2Pool, LetsEachRestTheLongerTheMoreThereAre) {
  EXPECT_EQ(rest_of_each(1), Duration::zero());
  EXPECT_EQ(rest_of_each(kFewConnections), Duration::zero());
  EXPECT_EQ(rest_of_each(kFewConnections + 1), std::chrono::milliseconds(17));
  EXPECT_EQ(rest_of_each(99), std::chrono::milliseconds(99));
  EXPECT_EQ(rest_of_each(100), kLongestRest);
  EXPECT_EQ(rest_of_each(10'000), kLongestRest);
}

TEST_F(CurlTlsTest, OneConnectionFindsOutWhatIsSpoken) {
  constexpr int kMany = 8;
  std::atomic<int> waiting = 0;
  const LoopbackServer server([&](Peer& peer) {
    // The greeting of TLS, and a moment in which others could have come.
    if (waiting++ == 0) peer.read_some(), peer.closes_within(std::chrono::milliseconds(100));
  });
  std::vector<Result<HttpEnd>> ends;
  std::vector<HttpRequest> requests(kMany,
                                    HttpRequest{.url = url_of(server), .connect_timeout = seconds(10)});
  run(loop, ask_all(loop, *network, requests, &ends));
  for (const auto& end : ends) EXPECT_FALSE(end);  // and none waits for ever when that one has failed
}

TEST_F(CurlTlsTest, AStopClosesItsStreamAndLeavesTheConnectionToOthers) {
  std::uint32_t stopped = 0;
  std::uint32_t reset = 0;
  LoopbackServer server(
      [&](Peer& peer) {
        Http2Peer http(peer, 100);
        stopped = http.next_request();
        http.start(stopped, 200), http.send(stopped, "first");
        while (const auto frame = http.next()) {
          if (frame->type == Http2Frame::rst_stream) reset = frame->stream;
          if (!frame->ends_stream()) continue;
          http.start(frame->stream, 200), http.end(frame->stream);
          return;
        }
      },
      authority.server(kAddress, {"h2"}));
  const HttpSink sink{.bytes = [&](std::string_view) { stop.request(StopReason::user); }};
  EXPECT_EQ(ask({.url = url_of(server)}, sink).error().code, ErrorCode::cancelled);
  EXPECT_TRUE(run(loop, network->exchange({.url = url_of(server)}, {}, {})));
  server.finish();
  EXPECT_NE(reset, 0u);
  EXPECT_EQ(reset, stopped);
  EXPECT_EQ(server.connections(), 1);
}

TEST_F(CurlTlsTest, AConnectionThatWasIdleForLongIsNotUsedAgain) {
  const LoopbackServer server(
      [](Peer& peer) {
        Http2Peer http(peer, 100);
        while (const auto stream = http.next_request()) http.start(stream, 200), http.end(stream);
      },
      authority.server(kAddress, {"h2"}));
  int before = 0;
  for (const auto trusted_for : {seconds(100), seconds(-1)}) {
    CurlOptions options = trusting(authority);
    options.idle_for_most = trusted_for;
    use(options);
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(ask({.url = url_of(server)}));
    const int made = server.connections() - before;
    EXPECT_TRUE(trusted_for > seconds(0) ? made == 1 : made >= 3) << made;
    before = server.connections();
  }
}

TEST_F(CurlTlsTest, AConnectionThatFellSilentGetsNoFurtherExchange) {
  std::atomic<int> connections = 0;
  const LoopbackServer server(
      [&](Peer& peer) {
        const bool falls_silent = connections++ == 0;
        Http2Peer http(peer, 100);
        while (const auto stream = http.next_request()) {
          http.start(stream, 200), http.send(stream, "x");
          if (!falls_silent) http.end(stream);
        }
      },
      authority.server(kAddress, {"h2"}));
  CurlOptions options = trusting(authority);
  options.silent_for_most = seconds(-1);
  use(options);
  const HttpSink sink{.bytes = [&](std::string_view) { stop.request(StopReason::user); }};
  EXPECT_EQ(ask({.url = url_of(server)}, sink).error().code, ErrorCode::cancelled);
  EXPECT_TRUE(run(loop, network->exchange({.url = url_of(server)}, {}, {})));
  EXPECT_EQ(server.connections(), 2);
}

TEST_F(CurlTlsTest, WhatTheServerHasNotLookedAtIsAskedOnceMoreElsewhere) {
  for (const bool goes_away : {true, false}) {
    for (const int refusing : {1, 2}) {
      std::atomic<int> connections = 0;
      const LoopbackServer server(
          [&](Peer& peer) {
            const bool refuses = connections++ < refusing;
            Http2Peer http(peer, 100);
            while (const auto stream = http.next_request()) {
              if (!refuses) {
                http.start(stream, 200), http.send(stream, "answer"), http.end(stream);
              } else if (goes_away) {
                http.go_away(0);
              } else {
                http.reset(stream, Http2Peer::refused_stream);
              }
            }
          },
          authority.server(kAddress, {"h2"}));
      seen = {};
      const auto end = ask({.method = "POST", .url = url_of(server), .body = "question"}, seen.sink());
      EXPECT_EQ(end.has_value(), refusing == 1);
      EXPECT_EQ(seen.body, refusing == 1 ? "answer" : "");
      EXPECT_EQ(server.connections(), 2);
    }
  }
}

TEST_F(CurlTlsTest, WhatAConnectionThatHadServedOthersDidNotHearIsAskedOnceMore) {
  std::atomic<int> asked = 0;
  const LoopbackServer server(
      [&](Peer& peer) {
        Http2Peer http(peer, 100);
        while (const auto stream = http.next_request()) {
          if (asked++ == 1) return;
          http.start(stream, 200), http.end(stream);
        }
      },
      authority.server(kAddress, {"h2"}));
  EXPECT_TRUE(ask({.url = url_of(server)}));
  EXPECT_TRUE(ask({.url = url_of(server)}));
  EXPECT_EQ(server.connections(), 2);
}

TEST_F(CurlTlsTest, AConnectionThatIsLostAtItsFirstExchangeIsNotTriedAgain) {
  const LoopbackServer server([&](Peer& peer) { Http2Peer(peer, 100).next_request(); },
                              authority.server(kAddress, {"h2"}));
  EXPECT_EQ(ask({.url = url_of(server)}).error().code, ErrorCode::io);
  EXPECT_EQ(server.connections(), 1);
}

// More than what comes before anybody has taken any of it.
TEST_F(CurlTlsTest, ASlowSinkHoldsItsStreamBack) {
  const std::string body(4 * kStreamWindow, 'x');
  std::atomic<std::size_t> sent = 0;
  const LoopbackServer server(
      [&](Peer& peer) {
        Http2Peer http(peer, 100);
        while (const auto stream = http.next_request()) {
          http.start(stream, 200);
          for (std::size_t at = 0; at < body.size(); at += 4096)
            sent += 4096, http.send(stream, body.substr(at, 4096));
          http.end(stream);
        }
      },
      authority.server(kAddress, {"h2"}));
  std::size_t taken = 0;
  std::size_t most_ahead = 0;
  const auto take = [&](std::string_view got) {
    taken += got.size();
    most_ahead = std::max(most_ahead, sent - taken);
  };
  const auto end = ask({.url = url_of(server)}, {.bytes = take, .drain = [&] { return turn(loop); }});
  ASSERT_TRUE(end) << to_text(end.error());
  EXPECT_EQ(taken, body.size());
  EXPECT_LE(most_ahead, std::size_t(kStreamWindow) + 4096);
  taken = 0;
  ASSERT_TRUE(ask({.url = url_of(server)}, {.bytes = [&](std::string_view got) { taken += got.size(); }}));
  EXPECT_EQ(taken, body.size());
}

TEST_F(CurlTlsTest, AGoAwayCutsWhatItDoesNotName) {
  std::atomic<int> asked = 0;
  const LoopbackServer server(
      [&](Peer& peer) {
        Http2Peer http(peer, 100);
        const auto stream = http.next_request();
        http.start(stream, 200);
        if (asked++ == 0) {
          http.send(stream, "half");
          http.go_away(0);
        } else {
          http.send(stream, "whole"), http.end(stream);
        }
        peer.closes_within();
      },
      authority.server(kAddress, {"h2"}));
  EXPECT_EQ(ask({.url = url_of(server)}, seen.sink()).error().code, ErrorCode::io);
  seen = {};
  const auto end = ask({.url = url_of(server)}, seen.sink());
  ASSERT_TRUE(end) << to_text(end.error());
  EXPECT_EQ(seen.body, "whole");
  EXPECT_EQ(server.connections(), 2);
}

TEST_F(CurlTlsTest, AResetStreamIsAnIoError) {
  const LoopbackServer server(
      [](Peer& peer) {
        Http2Peer http(peer, 100);
        while (const auto stream = http.next_request())
          http.start(stream, 200), http.send(stream, "x"), http.reset(stream);
      },
      authority.server(kAddress, {"h2"}));
  EXPECT_EQ(ask({.url = url_of(server)}, seen.sink()).error().code, ErrorCode::io);
  EXPECT_EQ(seen.body, "x");
}

TEST_F(CurlTlsTest, AProxyIsAskedToConnectAndSeesNothingOfIt) {
  const LoopbackServer server(
      [](Peer& peer) {
        Http2Peer http(peer, 100);
        while (const auto stream = http.next_request()) http.start(stream, 200), http.end(stream);
      },
      authority.server("DNS:server.test", {"h2"}));
  std::string head;
  const LoopbackServer proxy([&](Peer& peer) {
    head = peer.read_request();
    if (peer.write("HTTP/1.1 200 Connection established\r\n\r\n")) peer.join(server.port());
  });
  CurlOptions options = trusting(authority);
  options.https_proxy = "http://me:secret@" + proxy.address();
  use(options);
  constexpr int kMany = 20;
  EXPECT_EQ(ask_at_once("https://server.test/", kMany), kMany);
  EXPECT_EQ(proxy.connections(), 1);
  EXPECT_EQ(server.connections(), 1);
  EXPECT_THAT(head, StartsWith("CONNECT server.test:443 HTTP/1.1\r\n"));
  EXPECT_THAT(head, HasSubstr("Proxy-Authorization: Basic bWU6c2VjcmV0\r\n"));
}

TEST_F(CurlTlsTest, AProxyThatSpeaksTlsIsAskedInHttp1) {
  std::string head;
  LoopbackServer proxy(
      [&](Peer& peer) {
        head = peer.read_request();
        peer.write("HTTP/1.1 407 Who are you\r\nContent-Length: 0\r\n\r\n");
      },
      authority.server(kAddress, {"h2", "http/1.1"}));
  CurlOptions options = trusting(authority);
  options.https_proxy = "https://" + proxy.address();
  use(options);
  EXPECT_THAT(ask({.url = "https://server.test/"}).error().advice, HasSubstr("proxy"));
  proxy.finish();
  EXPECT_THAT(head, StartsWith("CONNECT server.test:443 HTTP/1.1\r\n"));
}

TEST_F(CurlTlsTest, AHostOfNoProxyIsReachedDirectly) {
  const LoopbackServer server([](Peer& peer) { answer_all(peer, "x"); }, authority.server(kAddress, {}));
  const LoopbackServer proxy([](Peer&) {});
  CurlOptions options = trusting(authority);
  options.https_proxy = "http://" + proxy.address();
  options.no_proxy = "example.org,127.0.0.1";
  use(options);
  EXPECT_TRUE(ask({.url = url_of(server)}));
  EXPECT_EQ(proxy.connections(), 0);
}

TEST_F(CurlTlsTest, AProxyThatRefusesIsSaidWithoutItsPassword) {
  const LoopbackServer proxy([](Peer& peer) {
    peer.read_request();
    peer.write("HTTP/1.1 407 Who are you\r\nContent-Length: 0\r\n\r\n");
  });
  use({.https_proxy = "http://me:secret@" + proxy.address()});
  const auto end = ask({.url = "https://server.test/"});
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().code, ErrorCode::unavailable);
  EXPECT_THAT(end.error().advice, HasSubstr("proxy"));
  EXPECT_THAT(to_text(end.error()), testing::Not(HasSubstr("secret")));
}

TEST_F(CurlTlsTest, WhoWaitsForTheFirstConnectionEndsWithTheNetwork) {
  LoopbackServer server([this](Peer& peer) {
    peer.read_some();  // the greeting of TLS: the first is under way, the others wait
    loop.post([this] { network.reset(); });
    peer.closes_within();
  });
  std::vector<Result<HttpEnd>> ends;
  run(loop, ask_all(loop, *network, std::vector(3, HttpRequest{.url = url_of(server)}), &ends));
  for (const auto& end : ends) {
    ASSERT_FALSE(end);
    EXPECT_EQ(end.error().code, ErrorCode::cancelled);
  }
  EXPECT_EQ(server.connections(), 1);
}

}  // namespace
}  // namespace deputy
