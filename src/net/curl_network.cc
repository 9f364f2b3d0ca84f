#include "net/curl_network.h"

#include <curl/curl.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <utility>

#include "base/text.h"
#include "net/curl_bridge.h"
#include "net/curl_transfer.h"
#include "net/curl_url.h"
#include "net/http2_pool.h"

namespace deputy {

namespace {

// "https://host:443", or nothing when it is no URL that can be asked.
std::string origin_of(const std::string& text) {
  CurlUrl url;
  if (!url.take(text)) return {};
  const std::string scheme = url.part(CURLUPART_SCHEME);
  if (scheme != "http" && scheme != "https") return {};
  return fmt::format("{}://{}:{}", scheme, url.part(CURLUPART_HOST), url.part(CURLUPART_PORT));
}

// For `https://me:secret@host/`, which curl knows how to ask.
bool names_a_user(const std::string& text) {
  CurlUrl url;
  return url.take(text) && !url.part(CURLUPART_USER).empty();
}

// Where TLS is spoken with the proxy too, curl asks us for both alike what is to be offered (http2_pool.cc),
// and does not speak HTTP/2 with a proxy.
bool is_proxy_with_tls(const CurlOptions& options) {
  return lowered(options.https_proxy).starts_with("https:");
}

bool is_token(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c > ' ' && c < 127 && c != ':'; });
}

Result<void> check(const HttpRequest& request, const std::string& origin) {
  if (origin.empty()) {
    return fail(ErrorCode::invalid, "not a URL that can be asked", "it must begin with http:// or https://");
  }
  if (!is_token(request.method)) return fail(ErrorCode::invalid, "not an HTTP method");
  for (const HttpHeader& header : request.headers) {
    // The value is not told: it may be a key.
    if (!is_token(header.name) ||
        header.value.find_first_of(std::string_view("\r\n\0", 3)) != std::string::npos) {
      return fail(ErrorCode::invalid, fmt::format("the header {} cannot be sent", header.name),
                  "it must be one line; check for a line end in it");
    }
  }
  return {};
}

void initialise_curl_once() {
  static std::once_flag once;
  std::call_once(once, [] {
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) throw std::bad_alloc();
  });
}

}  // namespace

struct CurlNetwork::State {
  State(SystemLoop& on, CurlOptions chosen)
      : loop(on), options(std::move(chosen)), separate(on), guarded(on), shared(on) {}
  Http2Pool& pool_of(const std::string& origin) {
    auto& pool = pools[origin];
    if (!pool) pool = std::make_unique<Http2Pool>(loop, shared, options, origin);
    return *pool;
  }

  SystemLoop& loop;
  const CurlOptions options;
  CurlBridge separate;  // HTTP/1.1: a connection for each exchange
  CurlBridge guarded;   // Reach::public_only: a connection that others made must not serve it
  CurlBridge shared;    // HTTP/2, and to find out whether it is spoken
  std::map<std::string, std::unique_ptr<Http2Pool>> pools;  // by https:// origin
};

CurlNetwork::CurlNetwork(SystemLoop& loop, CurlOptions options) {
  initialise_curl_once();
  state_ = std::make_shared<State>(loop, std::move(options));
}

CurlNetwork::~CurlNetwork() = default;

// No task of its own where what is spoken is known: of exchanges there may be very many.
Task<Result<HttpEnd>> CurlNetwork::exchange(HttpRequest request, HttpSink sink, StopToken stop) {
  const std::string origin = origin_of(request.url);
  auto meant = check(request, origin);
  if (!meant || stop.stopped()) return failed(meant ? Error::cancelled() : std::move(meant).error());
  const bool may_share = origin.starts_with("https:") && request.reach == Reach::anywhere &&
                         !names_a_user(request.url) && !is_proxy_with_tls(state_->options);
  const auto spoken = may_share ? state_->pool_of(origin).speaks() : HttpVersion::http1;
  if (!spoken) return once_known(std::move(request), std::move(sink), std::move(stop));
  if (*spoken == HttpVersion::http2)
    return shared(std::make_shared<Http2Exchange>(std::move(request), std::move(sink), origin),
                  std::move(stop), state_);
  CurlBridge& bridge = request.reach == Reach::public_only ? state_->guarded : state_->separate;
  return separate(
      std::make_shared<CurlTransfer>(std::move(request), std::move(sink), origin, state_->options),
      std::move(stop), bridge);
}

Task<Result<HttpEnd>> CurlNetwork::failed(Error error) { co_return std::unexpected(std::move(error)); }

Task<Result<HttpEnd>> CurlNetwork::once_known(HttpRequest request, HttpSink sink, StopToken stop) {
  const std::weak_ptr<State> network = state_;
  const TimePoint began = state_->loop.clock().now();
  const auto spoken = co_await state_->pool_of(origin_of(request.url)).find_out(&request, stop);
  if (!spoken) co_return std::unexpected(spoken.error());
  if (network.expired()) co_return std::unexpected(Error::cancelled());
  if (*spoken == HttpVersion::http1) {  // who shares a connection has one now
    request.connect_timeout -=
        std::chrono::duration_cast<std::chrono::milliseconds>(state_->loop.clock().now() - began);
  }
  co_return co_await exchange(std::move(request), std::move(sink), std::move(stop));
}

Task<Result<HttpEnd>> CurlNetwork::shared(std::shared_ptr<Http2Exchange> exchange, StopToken stop,
                                          std::weak_ptr<State> network) {
  const auto on_stop = stop.on_stop([exchange] { exchange->stop(); });
  for (;;) {
    if (const auto state = network.lock()) {
      state->pool_of(exchange->origin()).add(exchange);
    } else {
      co_return std::unexpected(Error::cancelled());
    }
    auto end = co_await exchange->finish();
    if (!exchange->may_be_made_again()) co_return end;
  }
}

Task<Result<HttpEnd>> CurlNetwork::separate(std::shared_ptr<CurlTransfer> transfer, StopToken stop,
                                            CurlBridge& bridge) {
  transfer->start_on(bridge, transfer);
  const auto on_stop = stop.on_stop([transfer] { transfer->stop(); });
  co_return co_await transfer->finish();
}

}  // namespace deputy
