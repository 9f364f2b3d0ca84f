// One exchange as libcurl sees it: a handle with every option set, and what curl calls while it goes on. For
// curl_network.cc only.
#pragma once

#include <curl/curl.h>

#include <array>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "async/waiter.h"
#include "net/curl_bridge.h"
#include "net/curl_network.h"

namespace deputy {

// Of one answer's head, all lines together. More is an answer gone wrong.
inline constexpr std::size_t kMaxHeadBytes = 256 * 1024;

enum class HttpVersion { http1, http2 };

// Shared by the exchange's coroutine and the bridge, and where it stands until both have let go.
class CurlTransfer {
 public:
  // `options` outlive it. `connected` is told once what an https:// peer speaks, before the request is sent.
  CurlTransfer(HttpRequest request, HttpSink sink, std::string origin, const CurlOptions& options,
               std::function<void(HttpVersion)> connected);
  CurlTransfer(const CurlTransfer&) = delete;

  void start_on(CurlBridge& bridge, std::shared_ptr<CurlTransfer> self);
  // Ends it at once with Error::cancelled.
  void stop();
  // Waits for the end, with the sink's drain in between. The network may be gone afterwards.
  Task<Result<HttpEnd>> finish();

 private:
  static std::size_t on_header(char* data, std::size_t one, std::size_t size, void* to);
  static std::size_t on_body(char* data, std::size_t one, std::size_t size, void* to);
  static curl_socket_t on_open(void* to, curlsocktype purpose, curl_sockaddr* wanted);
  static int on_connected(void* to, char* address, char* own, int port, int own_port);

  template <class Value>
  void set(CURLoption option, Value value) {
    curl_easy_setopt(easy_.get(), option, value);
  }
  void set_connection(const CurlOptions& options);
  void set_request();
  void set_callbacks();
  void add_header(const std::string& line);
  bool take_head_line(std::string_view line);
  template <class Call>
  bool tell(Call call);
  Error failure() const;

  using List = std::unique_ptr<curl_slist, void (*)(curl_slist*)>;
  HttpRequest request_;
  HttpSink sink_;
  std::string origin_;
  const CurlOptions& options_;
  std::function<void(HttpVersion)> connected_;
  List headers_{nullptr, curl_slist_free_all};
  List answers_{nullptr, curl_slist_free_all};  // instead of a name lookup's
  std::unique_ptr<CURL, void (*)(CURL*)> easy_{curl_easy_init(), curl_easy_cleanup};
  std::array<char, CURL_ERROR_SIZE> detail_{};

  CurlBridge* bridge_ = nullptr;  // while it is under way
  bool started_ = false;
  bool stopped_ = false;
  bool paused_ = false;  // until the sink has drained
  std::size_t head_bytes_ = 0;
  std::optional<std::string> refused_;  // the address that Reach keeps it from
  HttpEnd end_;
  std::exception_ptr thrown_;  // by the sink: it may not pass through curl
  std::optional<CURLcode> ended_;
  Waiter<bool> news_;  // that it is paused, or has ended
};

}  // namespace deputy
