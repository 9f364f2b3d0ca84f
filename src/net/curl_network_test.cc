#include "net/curl_network.h"

#include <chrono>
#include <memory>
#include <semaphore>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "async/task_group.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "net/loopback_server.h"
#include "support/run.h"

namespace deputy {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::string answer(const std::string& body) {
  return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

struct Seen {
  std::vector<HttpResponse> starts;
  std::string body;
  HttpSink sink() {
    return {.start = [this](const HttpResponse& got) { starts.push_back(got); },
            .bytes = [this](std::string_view got) { body += got; }};
  }
};

Task<> keep(Task<Result<HttpEnd>> exchange, Result<HttpEnd>* end) { *end = co_await std::move(exchange); }

class CurlNetworkTest : public testing::Test {
 protected:
  Result<HttpEnd> ask(HttpRequest request, HttpSink sink = {}) {
    return run(loop, network->exchange(std::move(request), std::move(sink), stop.token()));
  }
  SystemLoop loop;
  std::unique_ptr<CurlNetwork> network = std::make_unique<CurlNetwork>(loop);
  StopSource stop;
  Seen seen;
};

TEST_F(CurlNetworkTest, BringsStatusHeadersAndBody) {
  std::string request;
  LoopbackServer server([&](LoopbackServer& self) {
    const auto peer = self.accept();
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
  LoopbackServer server([&](LoopbackServer& self) {
    const auto peer = self.accept();
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
  LoopbackServer server([&](LoopbackServer& self) {
    const auto peer = self.accept();
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
  LoopbackServer server([](LoopbackServer& self) { self.accept().write("this is not TLS\r\n"); });
  EXPECT_EQ(ask({.url = "https://" + server.address()}).error().code, ErrorCode::unavailable);
}

TEST_F(CurlNetworkTest, AConnectionThatDoesNotComeAboutTimesOut) {
  const LoopbackServer server([](LoopbackServer&) {});  // the system takes the connection, nobody says a word
  const auto end = ask({.url = "https://" + server.address(), .connect_timeout = milliseconds(100)});
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().code, ErrorCode::timeout) << to_text(end.error());
}

TEST_F(CurlNetworkTest, ACutBodyIsAnIoError) {
  LoopbackServer server([](LoopbackServer& self) {
    const auto peer = self.accept();
    peer.read_request();
    peer.write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n0123456789");
  });
  EXPECT_EQ(ask({.url = server.url()}, seen.sink()).error().code, ErrorCode::io);
  EXPECT_EQ(seen.body, "0123456789");
}

TEST_F(CurlNetworkTest, ACloseBeforeTheStatusIsAnIoError) {
  LoopbackServer server([](LoopbackServer& self) { self.accept().read_request(); });
  EXPECT_EQ(ask({.url = server.url()}).error().code, ErrorCode::io);
}

TEST_F(CurlNetworkTest, AStopWhileItWaitsClosesTheConnection) {
  bool closed = false;
  LoopbackServer server([&](LoopbackServer& self) {
    const auto peer = self.accept();
    peer.read_request();
    loop.post([this] { stop.request(StopReason::user); });
    closed = peer.sees_close();
  });
  EXPECT_EQ(ask({.url = server.url()}, seen.sink()).error().code, ErrorCode::cancelled);
  server.finish();
  EXPECT_TRUE(closed);
  EXPECT_EQ(ask({.url = server.url()}).error().code, ErrorCode::cancelled);  // before it began
}

TEST_F(CurlNetworkTest, AStopFromTheSinkClosesTheConnection) {
  bool closed = false;
  LoopbackServer server([&](LoopbackServer& self) {
    const auto peer = self.accept();
    peer.read_request();
    peer.write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n0123456789");
    closed = peer.sees_close();
  });
  int calls = 0;
  const HttpSink sink{.bytes = [&](std::string_view) { ++calls, stop.request(StopReason::user); }};
  EXPECT_EQ(ask({.url = server.url()}, sink).error().code, ErrorCode::cancelled);
  server.finish();
  EXPECT_TRUE(closed);
  EXPECT_EQ(calls, 1);
}

TEST_F(CurlNetworkTest, WhatTheSinkThrowsIsThrownOn) {
  LoopbackServer server([](LoopbackServer& self) {
    const auto peer = self.accept();
    peer.read_request();
    peer.write(answer("x"));
  });
  const HttpSink sink{.start = [](const HttpResponse&) { throw std::logic_error("a bug"); }};
  EXPECT_THROW(ask({.url = server.url()}, sink), std::logic_error);
}

Task<> ask_two(SystemLoop& loop, Network& network, std::string url, Result<HttpEnd>* one,
               Result<HttpEnd>* two) {
  TaskGroup group(loop);
  group.spawn(keep(network.exchange({.url = url + "1"}, {}, {}), one));
  group.spawn(keep(network.exchange({.url = url + "2"}, {}, {}), two));
  co_await group.join();
}

TEST_F(CurlNetworkTest, TwoExchangesGoOnAtOnce) {
  LoopbackServer server([](LoopbackServer& self) {
    const auto first = self.accept();
    const auto second = self.accept();  // before the first has its answer
    first.read_request(), second.read_request();
    second.write(answer("second")), first.write(answer("1st"));
  });
  Result<HttpEnd> one, two;
  run(loop, ask_two(loop, *network, server.url(), &one, &two));
  ASSERT_TRUE(one && two);
  EXPECT_EQ(one->bytes + two->bytes, 9u);
}

TEST_F(CurlNetworkTest, TheNextExchangeTakesTheSameConnection) {
  LoopbackServer server([](LoopbackServer& self) {
    const auto peer = self.accept();  // the only one
    for (int i = 0; i < 3; ++i) {
      EXPECT_THAT(peer.read_request(), StartsWith("GET /"));
      peer.write(answer("x"));
    }
  });
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(ask({.url = server.url()}));
}

TEST_F(CurlNetworkTest, ExchangesUnderWayEndWithTheNetwork) {
  LoopbackServer server([this](LoopbackServer& self) {
    const auto peer = self.accept();
    peer.read_request();
    loop.post([this] { network.reset(); });
    EXPECT_TRUE(peer.sees_close());
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

}  // namespace
}  // namespace deputy
