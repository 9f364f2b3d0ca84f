#include "net/curl_handle.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <new>
#include <utility>

#include "base/text.h"
#include "net/curl_failure.h"

namespace deputy {

void CurlList::add(const std::string& line) {
  curl_slist* const longer = curl_slist_append(lines.get(), line.c_str());
  if (!longer) throw std::bad_alloc();
  (void)lines.release();  // the same list, or its first piece
  lines.reset(longer);
}

CurlHandle::CurlHandle(const HttpRequest& request, std::string origin, const CurlOptions& options)
    : options_(options), origin_(std::move(origin)) {
  if (!easy_) throw std::bad_alloc();
  const bool tls = origin_.starts_with("https:");
  set(CURLOPT_URL, request.url.c_str());
  set(CURLOPT_PROTOCOLS_STR, "http,https");
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_QUICK_EXIT, 1L);  // or a stop during a name lookup would wait for it, and the loop too
  set(CURLOPT_NETRC, long(CURL_NETRC_IGNORED));
  set(CURLOPT_HTTP_VERSION, long(tls ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1));
  set(CURLOPT_CONNECTTIMEOUT_MS, std::max(1L, long(request.connect_timeout.count())));
  set(CURLOPT_TCP_KEEPALIVE, 1L);
  set(CURLOPT_ERRORBUFFER, detail_.data());
  if (!options.ca_file.empty()) {
    set(CURLOPT_CAINFO, options.ca_file.c_str());
    set(CURLOPT_PROXY_CAINFO, options.ca_file.c_str());
  }
  // Set even when empty: unset ones are taken from the environment.
  const std::string& proxy = tls ? options.https_proxy : options.http_proxy;
  set(CURLOPT_PROXY, request.reach == Reach::public_only ? "" : proxy.c_str());
  set(CURLOPT_NOPROXY, options.no_proxy.c_str());
  set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  for (const std::string& answer : options.lookups) answers_.add(answer);
  if (answers_.lines) set(CURLOPT_RESOLVE, answers_.lines.get());
  if (request.reach == Reach::public_only) {
    set(CURLOPT_OPENSOCKETFUNCTION, &CurlHandle::on_open);
    set(CURLOPT_OPENSOCKETDATA, static_cast<void*>(this));
  }
}

Error CurlHandle::failure(CURLcode code, bool started, std::string_view detail) const {
  if (refused_) {
    return {ErrorCode::denied,
            fmt::format("cannot reach {}: {} is not a web server of the open internet", origin_, *refused_),
            "only public addresses are reached, at the ports 80 and 443"};
  }
  long proxy_status = 0;
  curl_easy_getinfo(easy_.get(), CURLINFO_HTTP_CONNECTCODE, &proxy_status);
  long system_error = 0;
  curl_easy_getinfo(easy_.get(), CURLINFO_OS_ERRNO, &system_error);
  return error_from_curl({.code = code,
                          .detail = detail.empty() ? trimmed(detail_.data()) : detail,
                          .origin = origin_,
                          .started = started,
                          .proxy_status = proxy_status,
                          .system_error = system_error});
}

// The address is the one that connect(2) is given next. Once one was refused none is tried any more: a name
// that leads inside and outside is not to be trusted.
curl_socket_t CurlHandle::on_open(void* to, curlsocktype, curl_sockaddr* wanted) {
  auto& self = *static_cast<CurlHandle*>(to);
  const auto peer = read_socket_address(wanted->addr, wanted->addrlen);
  if (!self.refused_ && (!peer || !self.options_.is_public(*peer))) {
    self.refused_ = peer ? fmt::format("{} port {}", to_text(peer->address), peer->port) : "it";
  }
  if (self.refused_) return CURL_SOCKET_BAD;
  return ::socket(wanted->family, wanted->socktype | SOCK_CLOEXEC, wanted->protocol);
}

}  // namespace deputy
