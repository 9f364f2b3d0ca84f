// What the tests of CurlNetwork share.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "async/task_group.h"
#include "net/curl_network.h"
#include "support/loopback_server.h"
#include "support/run.h"

namespace deputy {

inline std::string answer(const std::string& body) {
  return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

// Answers every request of a connection with the same.
inline void answer_all(Peer& peer, const std::string& body) {
  while (!peer.read_request().empty() && peer.write(answer(body))) {
  }
}

struct Seen {
  std::vector<HttpResponse> starts;
  std::string body;
  HttpSink sink() {
    return {.start = [this](const HttpResponse& got) { starts.push_back(got); },
            .bytes = [this](std::string_view got) { body += got; }};
  }
};

inline Task<> keep(Task<Result<HttpEnd>> exchange, Result<HttpEnd>* end) {
  *end = co_await std::move(exchange);
}

inline Task<> ask_all(SystemLoop& loop, Network& network, std::vector<HttpRequest> requests,
                      std::vector<Result<HttpEnd>>* ends) {
  TaskGroup group(loop);
  ends->resize(requests.size());
  for (std::size_t i = 0; i < requests.size(); ++i) {
    group.spawn(keep(network.exchange(requests[i], {}, {}), &(*ends)[i]));
  }
  co_await group.join();
}

class CurlTest : public testing::Test {
 protected:
  void use(CurlOptions options) { network = std::make_unique<CurlNetwork>(loop, std::move(options)); }
  Result<HttpEnd> ask(HttpRequest request, HttpSink sink = {}) {
    return run(loop, network->exchange(std::move(request), std::move(sink), stop.token()));
  }
  // How many of so many exchanges at once succeed.
  int ask_at_once(const std::string& url, int count) {
    std::vector<Result<HttpEnd>> ends;
    run(loop, ask_all(loop, *network, std::vector(std::size_t(count), HttpRequest{.url = url}), &ends));
    for (const auto& end : ends) EXPECT_TRUE(end) << to_text(end.error());
    return int(std::ranges::count_if(ends, [](const auto& end) { return end.has_value(); }));
  }
  SystemLoop loop;
  std::unique_ptr<CurlNetwork> network = std::make_unique<CurlNetwork>(loop);
  StopSource stop;
  Seen seen;
};

}  // namespace deputy
