#include "net/curl_network.h"

#include <atomic>
#include <chrono>
#include <latch>
#include <memory>
#include <semaphore>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "async/sleep.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "net/curl_test.h"
#include "net/network.h"

namespace deputy {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

using CurlNetworkTest = CurlTest;

Task<> sleep_for_ever(Loop& loop, StopToken stop) { co_await sleep_for(loop, std::chrono::hours(24), stop); }

Task<> throw_a_bug() {
  throw std::logic_error("a bug");
  co_return;
}

TEST_F(CurlNetworkTest, BringsStatusHeadersAndBody) {
  std::string request;
  LoopbackServer server([&](Peer& peer) {
    request = peer.read_request();
    peer.write("HTTP/1.1 100 Continue\r\nX-Early: 1\r\n\r\n");
    peer.write(
        "HTTP/1.1 429 Slow Down\r\nRetry-After:  7 \r\nX-Many: a\r\nX-Many: b\r\nContent-Length: "
        "5\r\n\r\nhello");
  });
  const auto end =
      ask({.url = server.url("/v1?q=1"), .headers = {{"X-Key", "k"}, {"X-Empty", ""}}}, seen.sink());
  server.finish();
  ASSERT_TRUE(end) << to_text(end.error());
  EXPECT_EQ(end->status, 429);
  EXPECT_EQ(end->bytes, 5u);
  ASSERT_EQ(seen.starts.size(), 1u);
  EXPECT_EQ(seen.starts[0].status, 429);
  const HttpHeaders expected{{"retry-after", "7"}, {"x-many", "a"}, {"x-many", "b"}, {"content-length", "5"}};
  EXPECT_EQ(seen.starts[0].headers, expected);
  EXPECT_EQ(end->headers, expected);
  EXPECT_EQ(seen.body, "hello");
  EXPECT_THAT(request, StartsWith("GET /v1?q=1 HTTP/1.1\r\n"));
  EXPECT_THAT(request, HasSubstr("X-Key: k\r\n"));
  EXPECT_THAT(request, HasSubstr("X-Empty:\r\n"));
}

TEST_F(CurlNetworkTest, APieceIsThereBeforeTheNextIsSent) {
  std::binary_semaphore arrived{0};
  LoopbackServer server([&](Peer& peer) {
    peer.read_request();
    peer.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    for (const std::string chunk : {"first", "other", "third"}) {
      peer.write("5\r\n" + chunk + "\r\n");
      EXPECT_TRUE(arrived.try_acquire_for(seconds(30)));
    }
    peer.write("0\r\nX-Trailer: 1\r\n\r\n");
  });
  std::vector<std::string> pieces;
  const auto end = ask({.url = server.url()}, {.bytes = [&](std::string_view got) {
                         pieces.emplace_back(got);
                         arrived.release();
                       }});
  ASSERT_TRUE(end) << to_text(end.error());
  EXPECT_THAT(pieces, testing::ElementsAre("first", "other", "third"));
  EXPECT_EQ(find_header(end->headers, "x-trailer"), std::nullopt);
}

TEST_F(CurlNetworkTest, SendsTheBodyOfAPostAtOnce) {
  std::string request;
  LoopbackServer server([&](Peer& peer) {
    request = peer.read_request();
    peer.write(answer(""));
  });
  const std::string body(100'000, 'b');
  const auto end = ask({.method = "POST", .url = server.url(), .body = body});
  server.finish();
  ASSERT_TRUE(end) << to_text(end.error());
  EXPECT_THAT(request, StartsWith("POST / HTTP/1.1\r\n"));
  EXPECT_THAT(request, EndsWith("\r\n\r\n" + body));
  EXPECT_THAT(request, Not(HasSubstr("Expect:")));
  EXPECT_THAT(request, Not(HasSubstr("Content-Type:")));
}

TEST_F(CurlNetworkTest, ARefusedConnectionIsUnavailable) {
  const LoopbackServer nobody;
  const auto end = ask({.url = nobody.url()});
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().code, ErrorCode::unavailable);
  EXPECT_THAT(end.error().message, HasSubstr(nobody.url("")));
  EXPECT_NE(end.error().advice, "");
}

TEST_F(CurlNetworkTest, APeerThatSpeaksNoTlsIsUnavailable) {
  LoopbackServer server([](Peer& peer) { peer.write("this is not TLS\r\n"), peer.closes_within(); });
  EXPECT_EQ(ask({.url = "https://" + server.address()}).error().code, ErrorCode::unavailable);
}

TEST_F(CurlNetworkTest, AConnectionThatDoesNotComeAboutTimesOut) {
  const LoopbackServer server([](Peer& peer) { peer.closes_within(); });  // nobody says a word
  const auto end = ask({.url = "https://" + server.address(), .connect_timeout = milliseconds(100)});
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().code, ErrorCode::timeout) << to_text(end.error());
}

TEST_F(CurlNetworkTest, ACutBodyIsAnIoError) {
  LoopbackServer server([](Peer& peer) {
    peer.read_request();
    peer.write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n0123456789");
  });
  EXPECT_EQ(ask({.url = server.url()}, seen.sink()).error().code, ErrorCode::io);
  EXPECT_EQ(seen.body, "0123456789");
}

TEST_F(CurlNetworkTest, ACloseBeforeTheStatusIsAnIoError) {
  LoopbackServer server([](Peer& peer) { peer.read_request(); });
  EXPECT_EQ(ask({.url = server.url()}).error().code, ErrorCode::io);
}

TEST_F(CurlNetworkTest, ACloseInTheHeadIsAnIoError) {
  for (const std::string head :
       {"HTTP/1.1 200 OK\r\nContent-Ty", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n", "HTTP/1.1 200 O",
        "SSH-2.0-OpenSSH_9\r\n", "HTTP/1.1 100 Continue\r\n\r\n"}) {
    LoopbackServer server([&](Peer& peer) { peer.read_request(), peer.write(head); });
    const auto end = ask({.url = server.url()}, seen.sink());
    ASSERT_FALSE(end) << head;
    EXPECT_EQ(end.error().code, ErrorCode::io) << head;
  }
  EXPECT_TRUE(seen.starts.empty());
}

TEST_F(CurlNetworkTest, AStopWhileItWaitsClosesTheConnection) {
  bool closed = false;
  LoopbackServer server([&](Peer& peer) {
    peer.read_request();
    loop.post([this] { stop.request(StopReason::user); });
    closed = peer.closes_within();
  });
  EXPECT_EQ(ask({.url = server.url()}, seen.sink()).error().code, ErrorCode::cancelled);
  server.finish();
  EXPECT_TRUE(closed);
  EXPECT_EQ(ask({.url = server.url()}).error().code, ErrorCode::cancelled);  // before it began
}

TEST_F(CurlNetworkTest, AStopFromTheSinkClosesTheConnection) {
  bool closed = false;
  LoopbackServer server([&](Peer& peer) {
    peer.read_request();
    peer.write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n0123456789");
    closed = peer.closes_within();
  });
  int calls = 0;
  const HttpSink sink{.bytes = [&](std::string_view) { ++calls, stop.request(StopReason::user); }};
  EXPECT_EQ(ask({.url = server.url()}, sink).error().code, ErrorCode::cancelled);
  server.finish();
  EXPECT_TRUE(closed);
  EXPECT_EQ(calls, 1);
}

TEST_F(CurlNetworkTest, WhatTheSinkThrowsIsThrownOn) {
  LoopbackServer server([](Peer& peer) {
    peer.read_request();
    peer.write(answer("x"));
  });
  const HttpSink sink{.start = [](const HttpResponse&) { throw std::logic_error("a bug"); }};
  EXPECT_THROW(ask({.url = server.url()}, sink), std::logic_error);
}

TEST_F(CurlNetworkTest, ExchangesGoOnAtOnceWithoutALimit) {
  constexpr int kMany = 64;
  std::latch all_asked(kMany);
  LoopbackServer server([&](Peer& peer) {
    peer.read_request();
    all_asked.arrive_and_wait();
    peer.write(answer("x"));
  });
  EXPECT_EQ(ask_at_once(server.url(), kMany), kMany);
  EXPECT_EQ(server.connections(), kMany);
}

TEST_F(CurlNetworkTest, TheNextExchangeTakesTheSameConnection) {
  const LoopbackServer server([](Peer& peer) { answer_all(peer, "x"); });
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(ask({.url = server.url()}));
  EXPECT_EQ(server.connections(), 1);
}

TEST_F(CurlNetworkTest, ExchangesUnderWayEndWithTheNetwork) {
  LoopbackServer server([this](Peer& peer) {
    peer.read_request();
    loop.post([this] { network.reset(); });
    EXPECT_TRUE(peer.closes_within());
  });
  EXPECT_EQ(ask({.url = server.url()}).error().code, ErrorCode::cancelled);
}

TEST_F(CurlNetworkTest, WhatCannotBeMeantIsInvalid) {
  for (const std::string url : {"", "file:///etc/passwd", "ftp://127.0.0.1/", "http://"}) {
    EXPECT_EQ(ask({.url = url}).error().code, ErrorCode::invalid) << url;
  }
  const std::string url = "http://127.0.0.1:1/";
  EXPECT_EQ(ask({.method = "GET /x", .url = url}).error().code, ErrorCode::invalid);
  const auto end = ask({.url = url, .headers = {{"X-Key", "secret\r\nX-More: 1"}}});
  EXPECT_EQ(end.error().code, ErrorCode::invalid);
  EXPECT_THAT(to_text(end.error()), Not(HasSubstr("secret")));
}

TEST_F(CurlNetworkTest, AHeadHasAMostSize) {
  // The last line of `size` bytes of head, without the status line.
  const auto head_of = [](std::size_t size) {
    std::string head = "Content-Length: 0\r\n";
    while (head.size() + 1000 < size - 2) head += "X-Line: " + std::string(490, 'x') + "\r\n";
    head += "X-Last: " + std::string(size - 2 - head.size() - 10, 'x') + "\r\n";
    return "HTTP/1.1 200 OK\r\n" + head + "\r\n";
  };
  for (const std::size_t size : {kMaxHeadBytes, kMaxHeadBytes + 1}) {
    const LoopbackServer server([&](Peer& peer) {
      peer.read_request();
      peer.write(head_of(size));
      peer.closes_within();
    });
    const auto end = ask({.url = server.url()});
    EXPECT_EQ(end.has_value(), size <= kMaxHeadBytes) << size;
    if (!end) EXPECT_THAT(to_text(end.error()), HasSubstr("too large"));
  }
}

TEST_F(CurlNetworkTest, AnEndlessHeadIsGivenUp) {
  const LoopbackServer server([](Peer& peer) {
    peer.read_request();
    peer.write("HTTP/1.1 200 OK\r\n");
    for (int i = 0; i < 1'000'000 && peer.write("X-More: 0123456789\r\n"); ++i) {
    }
  });
  EXPECT_EQ(ask({.url = server.url()}).error().code, ErrorCode::io);
}

// Holds the exchange until the sender has been held back, then lets it go on.
struct SlowSink {
  SystemLoop& loop;
  std::atomic<std::size_t> sent = 0;
  std::size_t taken = 0;
  std::size_t most_ahead = 0;
  int drained = 0;
};

Task<> drain_slowly(SlowSink& slow) {
  // Once the sender has not got on between two looks, it is held back.
  std::size_t before = 0;
  do {
    before = slow.sent;
    co_await sleep_for(slow.loop, milliseconds(slow.drained == 0 ? 50 : 0), {});
  } while (slow.sent != before);
  slow.most_ahead = std::max(slow.most_ahead, before - slow.taken);
  ++slow.drained;
}

TEST_F(CurlNetworkTest, ASlowSinkHoldsItsSenderBack) {
  constexpr std::size_t kPiece = 64 * 1024, kPieces = 1024;  // 64 MB: far more than sockets hold
  SlowSink slow{loop};
  LoopbackServer server([&](Peer& peer) {
    peer.read_request();
    peer.write("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(kPiece * kPieces) + "\r\n\r\n");
    const std::string piece(kPiece, 'x');
    for (std::size_t i = 0; i < kPieces && peer.write(piece); ++i) slow.sent += kPiece;
  });
  bool all_x = true;
  const auto end = ask({.url = server.url()}, {.bytes =
                                                   [&](std::string_view got) {
                                                     slow.taken += got.size();
                                                     all_x &= got.find_first_not_of('x') == got.npos;
                                                   },
                                               .drain = [&] { return drain_slowly(slow); }});
  ASSERT_TRUE(end) << to_text(end.error());
  EXPECT_EQ(slow.taken, kPiece * kPieces);
  EXPECT_TRUE(all_x);
  EXPECT_GT(slow.drained, 100);
  EXPECT_LT(slow.most_ahead, 32u << 20) << "the sender was not held back";
}

TEST_F(CurlNetworkTest, AStopWhileTheSinkDrainsClosesTheConnection) {
  bool closed = false;
  LoopbackServer server([&](Peer& peer) {
    peer.read_request();
    peer.write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n0123456789");
    closed = peer.closes_within();
  });
  const HttpSink sink{.bytes = [](std::string_view) {},
                      .drain =
                          [this] {
                            loop.post([this] { stop.request(StopReason::user); });
                            return sleep_for_ever(loop, stop.token());
                          }};
  EXPECT_EQ(ask({.url = server.url()}, sink).error().code, ErrorCode::cancelled);
  server.finish();
  EXPECT_TRUE(closed);
}

TEST_F(CurlNetworkTest, WhatDrainingThrowsIsThrownOn) {
  const LoopbackServer server([](Peer& peer) { answer_all(peer, "x"); });
  const HttpSink sink{.drain = [] { return throw_a_bug(); }};
  EXPECT_THROW(ask({.url = server.url()}, sink), std::logic_error);
}

TEST_F(CurlNetworkTest, AnHttpProxyIsAskedForHttpUrls) {
  std::string request;
  LoopbackServer proxy([&](Peer& peer) {
    request = peer.read_request();
    peer.write(answer("by proxy"));
  });
  const LoopbackServer direct([](Peer& peer) { answer_all(peer, "direct"); });
  use({.http_proxy = "http://me:secret@" + proxy.address(), .no_proxy = "127.0.0.1,other.test"});
  ASSERT_TRUE(ask({.url = "http://server.test/x"}, seen.sink()));
  EXPECT_EQ(seen.body, "by proxy");
  seen.body.clear();
  ASSERT_TRUE(ask({.url = direct.url()}, seen.sink()));
  EXPECT_EQ(seen.body, "direct");
  proxy.finish();
  EXPECT_EQ(proxy.connections(), 1);
  EXPECT_THAT(request, StartsWith("GET http://server.test/x HTTP/1.1\r\n"));
  EXPECT_THAT(request, HasSubstr("Proxy-Authorization: Basic bWU6c2VjcmV0\r\n"));
}

}  // namespace
}  // namespace deputy
