#include "net/http2_pool.h"

#include <openssl/ssl.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace deputy {

Duration rest_of_each(std::size_t connections) {
  const Duration rest = Duration(std::chrono::seconds(1)) / kLooksASecond * std::int64_t(connections);
  return connections <= kFewConnections ? Duration::zero() : std::min(rest, kLongestRest);
}

struct Http2Pool::Opening {
  std::unique_ptr<CurlHandle> handle;
  const SSL* http2 = nullptr;  // where that was chosen

  // It is ours to offer HTTP/2, and to ask whether it was chosen: curl would speak it itself.
  static CURLcode on_tls(CURL*, void* context, void*) {
    constexpr std::string_view kOffered = "\x02h2\x08http/1.1";
    const auto* const bytes = reinterpret_cast<const unsigned char*>(kOffered.data());
    auto* const tls = static_cast<SSL_CTX*>(context);
    SSL_CTX_set_read_ahead(tls, 1);  // a record's head and its bytes by one call of the kernel
    return SSL_CTX_set_alpn_protos(tls, bytes, unsigned(kOffered.size())) == 0 ? CURLE_OK
                                                                               : CURLE_SSL_CONNECT_ERROR;
  }
  static int on_connected(void* to, char*, char*, int, int) {
    auto& self = *static_cast<Opening*>(to);
    const curl_tlssessioninfo* session = nullptr;
    curl_easy_getinfo(self.handle->get(), CURLINFO_TLS_SSL_PTR, &session);
    if (!session || session->backend != CURLSSLBACKEND_OPENSSL || !session->internals)
      return CURL_PREREQFUNC_OK;
    const unsigned char* chosen = nullptr;
    unsigned size = 0;
    const auto* const tls = static_cast<const SSL*>(session->internals);
    SSL_get0_alpn_selected(tls, &chosen, &size);
    if (std::string_view(reinterpret_cast<const char*>(chosen), size) == "h2") self.http2 = tls;
    return CURL_PREREQFUNC_OK;
  }
};

Http2Pool::Http2Pool(SystemLoop& loop, CurlBridge& bridge, const CurlOptions& options, std::string origin)
    : loop_(loop), bridge_(bridge), options_(options), origin_(std::move(origin)) {}

Http2Pool::~Http2Pool() {
  for (const auto& opening : std::exchange(openings_, {})) bridge_.abort(opening->handle->get());
  if (end_of_rest_) loop_.timers().cancel(*end_of_rest_);
  answer(std::unexpected(Error::cancelled()));
  for (const auto& exchange : std::exchange(waiting_, {}))
    if (!exchange->has_ended()) exchange->fail(Error::cancelled());
}

Task<Result<HttpVersion>> Http2Pool::find_out(const HttpRequest* request, StopToken stop) {
  if (speaks_) co_return *speaks_;
  const Waiter<Result<HttpVersion>> found;
  asking_.push_back(found);
  if (openings_.empty()) open(*request);
  const auto on_stop = stop.on_stop([found] { found.resume(std::unexpected(Error::cancelled())); });
  co_return co_await found.wait();
}

void Http2Pool::add(std::shared_ptr<Http2Exchange> exchange) {
  waiting_.push_back(std::move(exchange));
  serve();
}

void Http2Pool::open(const HttpRequest& like) {
  auto made = std::make_unique<Opening>(std::make_unique<CurlHandle>(like, origin_, options_));
  Opening& opening = *openings_.emplace_back(std::move(made));
  opening.handle->set(CURLOPT_CONNECT_ONLY, 1L);
  opening.handle->set(CURLOPT_SSL_ENABLE_ALPN, 0L);
  opening.handle->set(CURLOPT_SSL_CTX_FUNCTION, &Opening::on_tls);
  opening.handle->set(CURLOPT_PREREQFUNCTION, &Opening::on_connected);
  opening.handle->set(CURLOPT_PREREQDATA, static_cast<void*>(&opening));
  bridge_.connect(opening.handle->get(), [this, &opening](CURLcode code) { opened(&opening, code); });
}

void Http2Pool::opened(Opening* opening, CURLcode code) {
  const auto found = std::ranges::find(openings_, opening, &std::unique_ptr<Opening>::get);
  if (found == openings_.end()) return;  // the pool is about to go
  const std::unique_ptr<Opening> done = std::move(*found);
  openings_.erase(found);
  if (code != CURLE_OK) {
    const Error error = done->handle->failure(code, /*started=*/false);
    answer(std::unexpected(error));
    return fail_without_prospect(error);
  }
  if (!done->http2) {
    bridge_.abort(done->handle->get());
    speaks_ = HttpVersion::http1;
    answer(HttpVersion::http1);
    return fail_without_prospect(
        {ErrorCode::unavailable, origin_ + " does not speak HTTP/2 any more", "try again"});
  }
  speaks_ = HttpVersion::http2;
  connections_.push_back(
      std::make_shared<Http2Connection>(loop_, bridge_, options_, std::move(done->handle), done->http2,
                                        [this](auto& connection) { changed(connection); }));
  answer(HttpVersion::http2);
  if (connections_.back()->is_over()) {
    connections_.pop_back();
    return fail_without_prospect(
        {ErrorCode::io, "the connection to " + origin_ + " was closed at once", "try again"});
  }
  serve();
}

void Http2Pool::changed(Http2Connection& connection) {
  const bool is_over = connection.is_over();
  if (is_over || (connection.has_read() && connections_.size() > kFewConnections)) {
    const auto found = std::ranges::find(connections_, &connection, &std::shared_ptr<Http2Connection>::get);
    if (is_over) {
      const auto kept = std::move(*found);
      connections_.erase(found);
    } else {
      let_rest(*found);
    }
  } else {
    connection.listen();
  }
  serve();
}

void Http2Pool::let_rest(const std::shared_ptr<Http2Connection>& connection) {
  if (!connection->rest()) return;
  resting_.emplace_back(loop_.clock().now() + rest_of_each(connections_.size()), connection);
  if (!end_of_rest_) end_of_rest_ = loop_.timers().call_at(resting_.front().first, [this] { look_again(); });
}

// One timer for all: who is nearly due is looked at as well, so that the process wakes up less often. Whoever
// rests anew meanwhile waits for the next time.
void Http2Pool::look_again() {
  end_of_rest_.reset();
  const TimePoint due = loop_.clock().now() + rest_of_each(connections_.size()) / 4;
  for (auto left = resting_.size(); left > 0 && resting_.front().first <= due; --left) {
    const auto connection = resting_.front().second.lock();
    resting_.pop_front();
    if (connection) connection->look();
  }
  if (!resting_.empty() && !end_of_rest_)
    end_of_rest_ = loop_.timers().call_at(resting_.front().first, [this] { look_again(); });
}

void Http2Pool::serve() {
  std::erase_if(waiting_, [](const auto& exchange) { return exchange->has_ended(); });
  if (waiting_.empty()) return;
  std::erase_if(connections_, [](const auto& connection) { return connection->is_over(); });
  for (const auto& connection : connections_) {
    for (auto room = connection->room(); room > 0 && !waiting_.empty(); --room) {
      const auto next = std::move(waiting_.front());
      waiting_.pop_front();
      next->start_on(*connection, next);
    }
  }
  while (waiting_.size() > prospects()) open(waiting_.front()->request());
}

// For how many there may be room soon, though there is none now.
std::size_t Http2Pool::prospects() const {
  const auto is_new = [](const auto& connection) { return connection->is_new(); };
  return (openings_.size() + std::size_t(std::ranges::count_if(connections_, is_new))) * kMostStreams;
}

void Http2Pool::answer(const Result<HttpVersion>& found) {
  for (const auto& waiter : std::exchange(asking_, {})) waiter.resume(found);
}

// Those for whom another connection would have to be opened: one was just not to be had.
void Http2Pool::fail_without_prospect(const Error& error) {
  std::erase_if(waiting_, [](const auto& exchange) { return exchange->has_ended(); });
  while (waiting_.size() > prospects()) {
    const auto last = std::move(waiting_.back());
    waiting_.pop_back();
    last->fail(error);
  }
}

}  // namespace deputy
