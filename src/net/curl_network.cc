#include "net/curl_network.h"

#include <curl/curl.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <exception>
#include <mutex>
#include <new>
#include <set>
#include <utility>

#include "async/waiter.h"
#include "net/curl_bridge.h"
#include "net/curl_failure.h"

namespace deputy {

struct CurlNetwork::State {
  State(SystemLoop& loop, CurlOptions chosen)
      : options(std::move(chosen)),
        separate(loop, CurlBridge::Connections::unlimited),
        shared(loop, CurlBridge::Connections::shared) {}

  const CurlOptions options;
  std::set<std::string> http1_origins;  // https:// ones that turned out to speak HTTP/1.1
  CurlBridge separate;                  // http:// and http1_origins: a limit would strangle them
  CurlBridge shared;                    // all other https://
};

namespace {

struct FreeEasy {
  void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
};
struct FreeList {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
struct FreeUrl {
  void operator()(CURLU* url) const { curl_url_cleanup(url); }
};

// One exchange. Shared by its coroutine and the bridge, and where it stands until both have let go.
struct Transfer {
  HttpRequest request;
  HttpSink sink;
  std::string origin;
  std::set<std::string>* http1_origins;  // its network's; good while it is under way
  std::unique_ptr<curl_slist, FreeList> headers;
  std::unique_ptr<CURL, FreeEasy> easy{curl_easy_init()};
  std::array<char, CURL_ERROR_SIZE> detail{};

  CurlBridge* bridge = nullptr;  // while it is under way
  bool started = false;
  bool stopped = false;
  HttpEnd end;
  std::exception_ptr thrown;  // by the sink: it may not pass through curl
  Waiter<CURLcode> ended;

  void stop() {
    stopped = true;
    if (bridge) bridge->abort(easy.get());
  }
  template <class Value>
  void set(CURLoption option, Value value) {
    curl_easy_setopt(easy.get(), option, value);
  }
  // Calls the sink. False: the exchange is over.
  template <class Call>
  bool tell(Call call) {
    if (stopped || thrown) return false;
    try {
      call();
    } catch (...) {
      thrown = std::current_exception();
    }
    return !stopped && !thrown;
  }
};

std::string_view trimmed(std::string_view text) {
  const auto from = text.find_first_not_of(" \t\r\n");
  if (from == std::string_view::npos) return {};
  return text.substr(from, text.find_last_not_of(" \t\r\n") - from + 1);
}

// A line of the answer's head.
std::size_t on_header(char* data, std::size_t, std::size_t size, void* to) {
  auto& transfer = *static_cast<Transfer*>(to);
  const std::string_view line(data, size);
  if (transfer.started) return size;  // a trailer
  if (line.starts_with("HTTP/")) {    // perhaps not the first one: a 1xx comes before the answer
    transfer.end.headers.clear();
    if (line.starts_with("HTTP/1") && transfer.origin.starts_with("https:")) {
      transfer.http1_origins->insert(transfer.origin);
    }
    return size;
  }
  if (!trimmed(line).empty()) {
    const auto colon = line.find(':');
    if (colon == std::string_view::npos) return size;
    std::string name(line.substr(0, colon));
    for (char& c : name) c = c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c;
    transfer.end.headers.push_back({std::move(name), std::string(trimmed(line.substr(colon + 1)))});
    return size;
  }
  long status = 0;
  curl_easy_getinfo(transfer.easy.get(), CURLINFO_RESPONSE_CODE, &status);
  if (status < 200) return size;
  transfer.started = true;
  transfer.end.status = int(status);
  const bool goes_on = transfer.tell([&] {
    if (transfer.sink.start) transfer.sink.start({transfer.end.status, transfer.end.headers});
  });
  return goes_on ? size : 0;
}

std::size_t on_body(char* data, std::size_t, std::size_t size, void* to) {
  auto& transfer = *static_cast<Transfer*>(to);
  transfer.end.bytes += size;
  const bool goes_on = transfer.tell([&] {
    if (transfer.sink.bytes && size > 0) transfer.sink.bytes({data, size});
  });
  return goes_on ? size : CURL_WRITEFUNC_ERROR;
}

// "https://host:443", or nothing when it is no URL that can be asked.
std::string origin_of(const std::string& text) {
  const std::unique_ptr<CURLU, FreeUrl> url(curl_url());
  if (!url || curl_url_set(url.get(), CURLUPART_URL, text.c_str(), 0) != CURLUE_OK) return {};
  const auto part = [&](CURLUPart which) -> std::string {
    char* value = nullptr;
    if (curl_url_get(url.get(), which, &value, CURLU_DEFAULT_PORT) != CURLUE_OK) return {};
    std::string copy = value;
    curl_free(value);
    return copy;
  };
  const std::string scheme = part(CURLUPART_SCHEME);
  if (scheme != "http" && scheme != "https") return {};
  return fmt::format("{}://{}:{}", scheme, part(CURLUPART_HOST), part(CURLUPART_PORT));
}

bool is_token(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c > ' ' && c < 127 && c != ':'; });
}

Result<void> check(const HttpRequest& request, const std::string& origin) {
  if (origin.empty() || request.url.contains('\0')) {
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

void add_header(Transfer& transfer, const std::string& line) {
  curl_slist* const longer = curl_slist_append(transfer.headers.get(), line.c_str());
  if (!longer) throw std::bad_alloc();
  (void)transfer.headers.release();  // the same list, or its first piece
  transfer.headers.reset(longer);
}

void set_up(Transfer& transfer, const CurlOptions& options) {
  const HttpRequest& request = transfer.request;
  const bool tls = transfer.origin.starts_with("https:");
  transfer.set(CURLOPT_URL, request.url.c_str());
  transfer.set(CURLOPT_PROTOCOLS_STR, "http,https");
  transfer.set(CURLOPT_NOSIGNAL, 1L);
  transfer.set(CURLOPT_QUICK_EXIT, 1L);  // or a stop during a name lookup would wait for it, and the loop too
  transfer.set(CURLOPT_NETRC, long(CURL_NETRC_IGNORED));
  transfer.set(CURLOPT_HTTP_VERSION, long(tls ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1));
  transfer.set(CURLOPT_PIPEWAIT, tls ? 1L : 0L);  // one connection until it is known whether it can be shared
  transfer.set(CURLOPT_CONNECTTIMEOUT_MS, std::max(1L, long(request.connect_timeout.count())));
  transfer.set(CURLOPT_TCP_KEEPALIVE, 1L);
  transfer.set(CURLOPT_UPLOAD_BUFFERSIZE, 16384L);
  if (!options.ca_file.empty()) transfer.set(CURLOPT_CAINFO, options.ca_file.c_str());
  // Set even when empty: unset ones are taken from the environment.
  transfer.set(CURLOPT_PROXY, tls ? options.https_proxy.c_str() : "");
  transfer.set(CURLOPT_NOPROXY, options.no_proxy.c_str());
  transfer.set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);

  if (request.method == "HEAD") {
    transfer.set(CURLOPT_NOBODY, 1L);
  } else if (request.method == "POST" || !request.body.empty()) {
    transfer.set(CURLOPT_POST, 1L);
    transfer.set(CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(request.body.size()));
    transfer.set(CURLOPT_POSTFIELDS, request.body.data());
    if (!find_header(request.headers, "content-type")) add_header(transfer, "Content-Type:");  // no default
  }
  if (request.method != "HEAD" && request.method != "GET") {
    transfer.set(CURLOPT_CUSTOMREQUEST, request.method.c_str());
  } else if (request.method == "GET" && !request.body.empty()) {
    transfer.set(CURLOPT_CUSTOMREQUEST, "GET");
  }
  add_header(transfer, "Expect:");  // no round trip before the body
  for (const HttpHeader& header : request.headers) {
    add_header(transfer, trimmed(header.value).empty() ? header.name + ";"
                                                       : fmt::format("{}: {}", header.name, header.value));
  }
  transfer.set(CURLOPT_HTTPHEADER, transfer.headers.get());

  transfer.set(CURLOPT_ERRORBUFFER, transfer.detail.data());
  transfer.set(CURLOPT_HEADERFUNCTION, &on_header);
  transfer.set(CURLOPT_HEADERDATA, static_cast<void*>(&transfer));
  transfer.set(CURLOPT_WRITEFUNCTION, &on_body);
  transfer.set(CURLOPT_WRITEDATA, static_cast<void*>(&transfer));
}

void initialise_curl_once() {
  static std::once_flag once;
  std::call_once(once, [] {
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) throw std::bad_alloc();
  });
}

}  // namespace

CurlNetwork::CurlNetwork(SystemLoop& loop, CurlOptions options) {
  initialise_curl_once();
  state_ = std::make_unique<State>(loop, std::move(options));
}

CurlNetwork::~CurlNetwork() = default;

Task<Result<HttpEnd>> CurlNetwork::exchange(HttpRequest request, HttpSink sink, StopToken stop) {
  if (stop.stopped()) co_return std::unexpected(Error::cancelled());
  std::string origin = origin_of(request.url);
  CO_TRY(check(request, origin));
  const auto transfer = std::make_shared<Transfer>(Transfer{.request = std::move(request),
                                                            .sink = std::move(sink),
                                                            .origin = std::move(origin),
                                                            .http1_origins = &state_->http1_origins});
  if (!transfer->easy) throw std::bad_alloc();
  set_up(*transfer, state_->options);

  const bool separate =
      transfer->origin.starts_with("http:") || state_->http1_origins.contains(transfer->origin);
  transfer->bridge = separate ? &state_->separate : &state_->shared;
  transfer->bridge->add(transfer->easy.get(), [transfer](CURLcode code) {
    transfer->bridge = nullptr;
    transfer->ended.resume(code);
  });
  const auto on_stop = stop.on_stop([transfer] { transfer->stop(); });
  const CURLcode code = co_await transfer->ended.wait();

  // From here on this network may be gone.
  if (transfer->thrown) std::rethrow_exception(transfer->thrown);
  if (code == CURLE_OK) co_return std::move(transfer->end);
  if (transfer->stopped) co_return std::unexpected(Error::cancelled());
  long proxy_status = 0;
  curl_easy_getinfo(transfer->easy.get(), CURLINFO_HTTP_CONNECTCODE, &proxy_status);
  co_return std::unexpected(error_from_curl({.code = code,
                                             .detail = trimmed(transfer->detail.data()),
                                             .origin = transfer->origin,
                                             .started = transfer->started,
                                             .proxy_status = proxy_status}));
}

}  // namespace deputy
