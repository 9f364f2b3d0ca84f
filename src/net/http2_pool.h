// The connections to one https:// origin: finds out what is spoken there, and where that is HTTP/2 gives each
// exchange a stream on as few connections as they need. For curl_network.cc only.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "async/stop.h"
#include "async/waiter.h"
#include "net/http2_connection.h"
#include "net/http2_exchange.h"

namespace deputy {

enum class HttpVersion { http1, http2 };

// Of all connections together, while there are many: each is read at most every so often, and what came
// meanwhile by one look. A few are read as soon as anything comes.
inline constexpr std::size_t kFewConnections = 16;
inline constexpr int kLooksASecond = 1000;
inline constexpr Duration kLongestRest = std::chrono::milliseconds(100);
// How long each rests after a look that brought something.
Duration rest_of_each(std::size_t connections);

class Http2Pool {
 public:
  // All of these outlive it.
  Http2Pool(SystemLoop& loop, CurlBridge& bridge, const CurlOptions& options, std::string origin);
  // Whoever waits, and exchanges under way, end with Error::cancelled.
  ~Http2Pool();
  Http2Pool(const Http2Pool&) = delete;

  // What the origin speaks, once it is known.
  std::optional<HttpVersion> speaks() const { return speaks_; }
  // Finds it out. The first that asks connects, as its request says; who asks meanwhile gets the
  // same answer, and an error too.
  Task<Result<HttpVersion>> find_out(const HttpRequest* request, StopToken stop);
  // To an origin that speaks HTTP/2. It ends where no connection can be had.
  void add(std::shared_ptr<Http2Exchange> exchange);

 private:
  struct Opening;
  void open(const HttpRequest& like);
  void opened(Opening* opening, CURLcode code);
  void serve();
  void let_rest(const std::shared_ptr<Http2Connection>& connection);
  void look_again();
  void changed(Http2Connection& connection);
  void answer(const Result<HttpVersion>& found);
  std::size_t prospects() const;
  void fail_without_prospect(const Error& error);

  SystemLoop& loop_;
  CurlBridge& bridge_;
  const CurlOptions& options_;
  const std::string origin_;
  std::optional<HttpVersion> speaks_;
  std::vector<Waiter<Result<HttpVersion>>> asking_;
  std::deque<std::shared_ptr<Http2Exchange>> waiting_;
  std::vector<std::unique_ptr<Opening>> openings_;
  std::vector<std::shared_ptr<Http2Connection>> connections_;
  std::deque<std::pair<TimePoint, std::weak_ptr<Http2Connection>>> resting_;  // until then
  std::optional<TimerId> end_of_rest_;
};

}  // namespace deputy
