#include "net/curl_network.h"

#include <curl/curl.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <new>
#include <optional>
#include <utility>

#include "async/waiter.h"
#include "net/curl_bridge.h"
#include "net/curl_transfer.h"
#include "net/curl_url.h"

namespace deputy {

namespace {

// What is known of an https:// origin, and who waits to know it.
struct Origin {
  std::optional<HttpVersion> speaks;
  bool is_asked = false;  // an exchange is on its way to find out
  std::vector<Waiter<bool>> waiting;

  void release() {
    is_asked = false;
    for (const auto& waiter : std::exchange(waiting, {})) waiter.resume(true);
  }
};

// "https://host:443", or nothing when it is no URL that can be asked.
std::string origin_of(const std::string& text) {
  CurlUrl url;
  if (!url.take(text)) return {};
  const std::string scheme = url.part(CURLUPART_SCHEME);
  if (scheme != "http" && scheme != "https") return {};
  return fmt::format("{}://{}:{}", scheme, url.part(CURLUPART_HOST), url.part(CURLUPART_PORT));
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
      : loop(on),
        options(std::move(chosen)),
        separate(on, CurlBridge::Connections::unlimited),
        shared(on, CurlBridge::Connections::shared),
        guarded(on, CurlBridge::Connections::unlimited) {}
  ~State() {
    for (auto& [name, origin] : origins) origin.release();
  }
  CurlBridge& bridge_for(const std::string& name, Reach reach) {
    if (reach == Reach::public_only) return guarded;
    return name.starts_with("http:") || origins[name].speaks == HttpVersion::http1 ? separate : shared;
  }

  SystemLoop& loop;
  const CurlOptions options;
  std::map<std::string, Origin> origins;  // https:// ones
  CurlBridge separate;                    // HTTP/1.1: a limit would strangle it
  CurlBridge shared;                      // HTTP/2, and those of which it is not known
  CurlBridge guarded;  // Reach::public_only: a connection that others made must not serve it
};

// The first exchange with an https:// origin goes ahead; the others wait until it has found out what is
// spoken there, or has failed. It is a turn's holder that finds out.
class CurlNetwork::Turn {
 public:
  Turn(std::weak_ptr<State> state, std::string name) : state_(std::move(state)), name_(std::move(name)) {}
  Turn(const Turn&) = delete;
  ~Turn() {
    if (const auto state = state_.lock(); state && is_first_) state->origins[name_].release();
  }
  // False: stopped, or the network is gone.
  Task<bool> comes(StopToken stop) {
    Origin& origin = state_.lock()->origins[name_];
    if (origin.speaks) co_return true;
    if (!std::exchange(origin.is_asked, true)) {
      is_first_ = true;
      co_return true;
    }
    const Waiter<bool> known;
    origin.waiting.push_back(known);
    const auto on_stop = stop.on_stop([known] { known.resume(true); });
    co_await known.wait();
    co_return !stop.stopped() && !state_.expired();
  }

 private:
  const std::weak_ptr<State> state_;
  const std::string name_;
  bool is_first_ = false;
};

CurlNetwork::CurlNetwork(SystemLoop& loop, CurlOptions options) {
  initialise_curl_once();
  state_ = std::make_shared<State>(loop, std::move(options));
}

CurlNetwork::~CurlNetwork() = default;

Task<Result<HttpEnd>> CurlNetwork::exchange(HttpRequest request, HttpSink sink, StopToken stop) {
  if (stop.stopped()) co_return std::unexpected(Error::cancelled());
  const std::string name = origin_of(request.url);
  CO_TRY(check(request, name));

  std::function<void(HttpVersion)> learn;
  Turn turn(state_, name);
  if (name.starts_with("https:") && request.reach == Reach::anywhere) {
    State* const state = state_.get();  // there while the exchange is under way
    const TimePoint began = state->loop.clock().now();
    if (!co_await turn.comes(stop)) co_return std::unexpected(Error::cancelled());
    request.connect_timeout -=
        std::chrono::duration_cast<std::chrono::milliseconds>(state->loop.clock().now() - began);
    learn = [state, name](HttpVersion version) {
      state->origins[name].speaks = version;
      state->origins[name].release();
    };
  }
  CurlBridge& bridge = state_->bridge_for(name, request.reach);
  const auto transfer = std::make_shared<CurlTransfer>(std::move(request), std::move(sink), name,
                                                       state_->options, std::move(learn));
  transfer->start_on(bridge, transfer);
  const auto on_stop = stop.on_stop([transfer] { transfer->stop(); });
  co_return co_await transfer->finish();
}

}  // namespace deputy
