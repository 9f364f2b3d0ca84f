// One exchange on a stream of HTTP/2: it waits in its pool for a connection, has a stream there, and ends.
// For this folder only.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "net/delivery.h"
#include "net/http2_connection.h"

namespace deputy {

class Http2Exchange final : public Delivery, private Http2Reader {
 public:
  Http2Exchange(HttpRequest request, HttpSink sink, std::string origin);

  // Waits for the end. The connection may be gone afterwards.
  Task<Result<HttpEnd>> finish();
  // The server has not looked at the request, and was asked only once: it may be added to the pool again.
  bool may_be_made_again();

  const std::string& origin() const { return origin_; }

  // For the pool that it waits in.
  const HttpRequest& request() const { return request_; }
  using Delivery::has_ended;
  void start_on(Http2Connection& connection, std::shared_ptr<Http2Exchange> self);
  void fail(Error error);

 private:
  void give_up() override;
  void go_on() override;
  void head(HttpResponse response) override;
  void bytes(std::string_view piece) override;
  void end(Http2End end) override;
  void hand_out_or_give_up(std::string_view piece);
  Error error_of(CURLcode code, std::string_view why = {}) const;

  HttpRequest request_;
  const std::string origin_;
  std::shared_ptr<Http2Exchange> self_;    // while it has a stream, which only refers to it
  Http2Connection* connection_ = nullptr;  // the stream's
  StreamId stream_ = 0;
  std::size_t in_work_ = 0;  // bytes that the sink drains
  std::string backlog_;      // what came meanwhile
  std::optional<Http2End> last_;
  std::optional<Error> error_;
  bool was_refused_ = false;
};

}  // namespace deputy
