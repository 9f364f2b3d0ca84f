#include "net/curl_transfer.h"

#include <fmt/format.h>
#include <openssl/ssl.h>
#include <unistd.h>

#include <algorithm>
#include <new>
#include <utility>

#include "base/text.h"
#include "net/curl_failure.h"

namespace deputy {

CurlTransfer::CurlTransfer(HttpRequest request, HttpSink sink, std::string origin, const CurlOptions& options,
                           std::function<void(HttpVersion)> connected)
    : request_(std::move(request)),
      sink_(std::move(sink)),
      origin_(std::move(origin)),
      options_(options),
      connected_(std::move(connected)) {
  if (!easy_) throw std::bad_alloc();
  set_connection(options);
  set_request();
  set_callbacks();
}

void CurlTransfer::set_connection(const CurlOptions& options) {
  const bool tls = origin_.starts_with("https:");
  set(CURLOPT_URL, request_.url.c_str());
  set(CURLOPT_PROTOCOLS_STR, "http,https");
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_QUICK_EXIT, 1L);  // or a stop during a name lookup would wait for it, and the loop too
  set(CURLOPT_NETRC, long(CURL_NETRC_IGNORED));
  set(CURLOPT_HTTP_VERSION, long(tls ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1));
  set(CURLOPT_PIPEWAIT, tls ? 1L : 0L);  // a connection that others may share is waited for
  set(CURLOPT_CONNECTTIMEOUT_MS, std::max(1L, long(request_.connect_timeout.count())));
  set(CURLOPT_TCP_KEEPALIVE, 1L);
  set(CURLOPT_UPLOAD_BUFFERSIZE, 16384L);
  if (!options.ca_file.empty()) set(CURLOPT_CAINFO, options.ca_file.c_str());
  // Set even when empty: unset ones are taken from the environment.
  const std::string& proxy = tls ? options.https_proxy : options.http_proxy;
  set(CURLOPT_PROXY, request_.reach == Reach::public_only ? "" : proxy.c_str());
  set(CURLOPT_NOPROXY, options.no_proxy.c_str());
  set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  for (const std::string& answer : options.lookups) {
    curl_slist* const longer = curl_slist_append(answers_.get(), answer.c_str());
    if (!longer) throw std::bad_alloc();
    (void)answers_.release();
    answers_.reset(longer);
  }
  if (answers_) set(CURLOPT_RESOLVE, answers_.get());
}

void CurlTransfer::set_request() {
  const std::string& method = request_.method;
  if (method == "HEAD") {
    set(CURLOPT_NOBODY, 1L);
  } else if (method == "POST" || !request_.body.empty()) {
    set(CURLOPT_POST, 1L);
    set(CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(request_.body.size()));
    set(CURLOPT_POSTFIELDS, request_.body.data());
    if (!find_header(request_.headers, "content-type")) add_header("Content-Type:");  // no default
  }
  if (method != "HEAD" && (method != "GET" || !request_.body.empty())) {
    set(CURLOPT_CUSTOMREQUEST, method.c_str());
  }
  add_header("Expect:");  // no round trip before the body
  for (const HttpHeader& header : request_.headers) {
    add_header(trimmed(header.value).empty() ? header.name + ";"
                                             : fmt::format("{}: {}", header.name, header.value));
  }
  set(CURLOPT_HTTPHEADER, headers_.get());
}

void CurlTransfer::set_callbacks() {
  void* const self = this;
  set(CURLOPT_ERRORBUFFER, detail_.data());
  set(CURLOPT_HEADERFUNCTION, &CurlTransfer::on_header);
  set(CURLOPT_HEADERDATA, self);
  set(CURLOPT_WRITEFUNCTION, &CurlTransfer::on_body);
  set(CURLOPT_WRITEDATA, self);
  set(CURLOPT_PREREQFUNCTION, &CurlTransfer::on_connected);
  set(CURLOPT_PREREQDATA, self);
  if (request_.reach == Reach::public_only) {
    set(CURLOPT_OPENSOCKETFUNCTION, &CurlTransfer::on_open);
    set(CURLOPT_OPENSOCKETDATA, self);
  }
}

void CurlTransfer::add_header(const std::string& line) {
  curl_slist* const longer = curl_slist_append(headers_.get(), line.c_str());
  if (!longer) throw std::bad_alloc();
  (void)headers_.release();  // the same list, or its first piece
  headers_.reset(longer);
}

void CurlTransfer::start_on(CurlBridge& bridge, std::shared_ptr<CurlTransfer> self) {
  bridge_ = &bridge;
  bridge.add(easy_.get(), [self = std::move(self)](CURLcode code) {
    self->bridge_ = nullptr;
    self->ended_ = code;
    self->news_.resume(true);
  });
}

void CurlTransfer::stop() {
  stopped_ = true;
  if (bridge_) bridge_->abort(easy_.get());
}

Task<Result<HttpEnd>> CurlTransfer::finish() {
  while (!ended_) {
    co_await news_.wait();
    news_ = {};
    if (ended_ || !paused_) continue;
    try {
      co_await sink_.drain();
    } catch (...) {
      thrown_ = std::current_exception();
    }
    paused_ = false;
    if (!bridge_) continue;
    if (thrown_) {
      bridge_->abort(easy_.get());
    } else {
      bridge_->go_on(easy_.get());
    }
  }
  if (thrown_) std::rethrow_exception(thrown_);
  if (*ended_ == CURLE_OK && !started_) ended_ = CURLE_GOT_NOTHING;  // curl takes half a head for an answer
  if (*ended_ == CURLE_OK) co_return std::move(end_);
  if (stopped_) co_return std::unexpected(Error::cancelled());
  co_return std::unexpected(failure());
}

Error CurlTransfer::failure() const {
  if (refused_) {
    return {ErrorCode::denied,
            fmt::format("cannot reach {}: {} is not a web server of the open internet", origin_, *refused_),
            "only public addresses are reached, at the ports 80 and 443"};
  }
  long proxy_status = 0;
  curl_easy_getinfo(easy_.get(), CURLINFO_HTTP_CONNECTCODE, &proxy_status);
  return error_from_curl({.code = *ended_,
                          .detail = head_bytes_ > kMaxHeadBytes ? "the head of its answer is too large"
                                                                : trimmed(detail_.data()),
                          .origin = origin_,
                          .started = started_,
                          .proxy_status = proxy_status});
}

// Calls the sink. False: the exchange is over.
template <class Call>
bool CurlTransfer::tell(Call call) {
  if (stopped_ || thrown_) return false;
  try {
    call();
  } catch (...) {
    thrown_ = std::current_exception();
  }
  return !stopped_ && !thrown_;
}

// The address is the one that connect(2) is given next. Once one was refused none is tried any more: a name
// that leads inside and outside is not to be trusted.
curl_socket_t CurlTransfer::on_open(void* to, curlsocktype, curl_sockaddr* wanted) {
  auto& self = *static_cast<CurlTransfer*>(to);
  const auto peer = read_socket_address(wanted->addr, wanted->addrlen);
  if (!self.refused_ && (!peer || !self.options_.is_public(*peer))) {
    self.refused_ = peer ? fmt::format("{} port {}", to_text(peer->address), peer->port) : "it";
  }
  if (self.refused_) return CURL_SOCKET_BAD;
  return ::socket(wanted->family, wanted->socktype | SOCK_CLOEXEC, wanted->protocol);
}

int CurlTransfer::on_connected(void* to, char*, char*, int, int) {
  auto& self = *static_cast<CurlTransfer*>(to);
  if (self.refused_) return CURL_PREREQFUNC_ABORT;
  const curl_tlssessioninfo* session = nullptr;
  curl_easy_getinfo(self.easy_.get(), CURLINFO_TLS_SSL_PTR, &session);
  if (self.connected_ && session && session->backend == CURLSSLBACKEND_OPENSSL && session->internals) {
    const unsigned char* chosen = nullptr;
    unsigned size = 0;
    SSL_get0_alpn_selected(static_cast<const SSL*>(session->internals), &chosen, &size);
    const bool is_h2 = std::string_view(reinterpret_cast<const char*>(chosen), size) == "h2";
    self.connected_(is_h2 ? HttpVersion::http2 : HttpVersion::http1);
  }
  return CURL_PREREQFUNC_OK;
}

std::size_t CurlTransfer::on_header(char* data, std::size_t, std::size_t size, void* to) {
  return static_cast<CurlTransfer*>(to)->take_head_line({data, size}) ? size : 0;
}

bool CurlTransfer::take_head_line(std::string_view line) {
  if (started_) return true;        // a trailer
  if (line.starts_with("HTTP/")) {  // perhaps not the first one: a 1xx comes before the answer
    end_.headers.clear();
    head_bytes_ = 0;
    return true;
  }
  head_bytes_ += line.size();
  if (head_bytes_ > kMaxHeadBytes) return false;
  if (!trimmed(line).empty()) {
    if (auto header = header_in(line)) end_.headers.push_back(*std::move(header));
    return true;
  }
  long status = 0;
  curl_easy_getinfo(easy_.get(), CURLINFO_RESPONSE_CODE, &status);
  if (status < 200) return true;
  started_ = true;
  end_.status = int(status);
  return tell([&] {
    if (sink_.start) sink_.start({end_.status, end_.headers});
  });
}

std::size_t CurlTransfer::on_body(char* data, std::size_t, std::size_t size, void* to) {
  auto& self = *static_cast<CurlTransfer*>(to);
  self.end_.bytes += size;
  const bool goes_on = self.tell([&] {
    if (self.sink_.bytes && size > 0) self.sink_.bytes({data, size});
  });
  if (!goes_on) return CURL_WRITEFUNC_ERROR;
  if (self.sink_.drain && !self.paused_) {
    self.paused_ = true;
    curl_easy_pause(self.easy_.get(), CURLPAUSE_RECV);
    self.news_.resume(true);
  }
  return size;
}

}  // namespace deputy
