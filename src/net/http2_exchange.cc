#include "net/http2_exchange.h"

#include <new>
#include <utility>

#include "net/curl_failure.h"

namespace deputy {

namespace {

constexpr std::size_t kPiece = 16 * 1024;

}  // namespace

Http2Exchange::Http2Exchange(HttpRequest request, HttpSink sink, std::string origin)
    : Delivery(std::move(sink)), request_(std::move(request)), origin_(std::move(origin)) {}

Task<Result<HttpEnd>> Http2Exchange::finish() {
  HttpEnd end = co_await wait_for_end();
  if (!error_) co_return end;
  co_return std::unexpected(is_stopped() ? Error::cancelled() : *error_);
}

bool Http2Exchange::may_be_made_again() {
  if (!last_ || last_->how != Http2End::How::refused || is_stopped()) return false;
  if (std::exchange(was_refused_, true)) return false;
  request_.body = std::move(last_->body);
  last_.reset();
  error_.reset();
  begin_again();
  return true;
}

void Http2Exchange::start_on(Http2Connection& connection, std::shared_ptr<Http2Exchange> self) {
  try {
    stream_ = connection.start(http2_head(request_), std::move(request_.body), *this);
  } catch (const std::bad_alloc&) {
    return fail(error_of(CURLE_OUT_OF_MEMORY));
  }
  connection_ = &connection;
  self_ = std::move(self);
}

Error Http2Exchange::error_of(CURLcode code, std::string_view why) const {
  return error_from_curl({.code = code, .detail = why, .origin = origin_, .started = so_far().status != 0});
}

void Http2Exchange::fail(Error error) {
  error_ = std::move(error);
  ended();
}

void Http2Exchange::give_up() {
  if (connection_) std::exchange(connection_, nullptr)->give_up(stream_);
  const auto kept = std::move(self_);
  fail(Error::cancelled());
}

void Http2Exchange::head(HttpResponse response) {
  const HttpRequest made = std::move(request_);  // and free from here on: who answers it will not refuse it
  if (!hand_out(response)) give_up();
}

void Http2Exchange::bytes(std::string_view piece) {
  if (is_draining()) {
    backlog_ += piece;
  } else {
    hand_out_or_give_up(piece);
  }
}

void Http2Exchange::hand_out_or_give_up(std::string_view piece) {
  if (!hand_out(piece)) return give_up();
  if (connection_ && !is_draining()) connection_->taken(stream_, piece.size());
  in_work_ = is_draining() ? piece.size() : 0;
}

void Http2Exchange::go_on() {
  if (connection_) connection_->taken(stream_, std::exchange(in_work_, 0));
  if (!backlog_.empty()) {
    const std::string piece = backlog_.substr(0, kPiece);
    backlog_.erase(0, piece.size());
    hand_out_or_give_up(piece);
  }
  if (last_ && backlog_.empty() && !is_draining() && !has_ended()) ended();
}

void Http2Exchange::end(Http2End end) {
  const auto kept = std::move(self_);
  Http2Connection* const connection = std::exchange(connection_, nullptr);
  if (end.how == Http2End::How::refused && connection) connection->distrust();
  if (end.how == Http2End::How::given_up) {
    backlog_.clear();
    return fail(Error::cancelled());
  }
  if (end.how == Http2End::How::cut || end.how == Http2End::How::refused)
    error_ = error_of(CURLE_HTTP2_STREAM, end.why);
  last_ = std::move(end);
  if (!is_draining() && backlog_.empty()) ended();
}

}  // namespace deputy
