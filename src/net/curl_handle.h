// A handle of libcurl's with what every connection of ours has, and what is known when it failed. For this
// folder only.
#pragma once

#include <curl/curl.h>

#include <array>
#include <memory>
#include <optional>
#include <string>

#include "net/curl_network.h"

namespace deputy {

struct CurlList {
  CurlList() = default;
  // Throws where there is no memory.
  void add(const std::string& line);
  std::unique_ptr<curl_slist, void (*)(curl_slist*)> lines{nullptr, curl_slist_free_all};
};

class CurlHandle {
 public:
  // For the request's URL, which is of this origin ("https://host:443"), and within its connect_timeout and
  // its reach. `options` outlive it.
  CurlHandle(const HttpRequest& request, std::string origin, const CurlOptions& options);
  CurlHandle(const CurlHandle&) = delete;

  CURL* get() const { return easy_.get(); }
  const std::string& origin() const { return origin_; }
  template <class Value>
  void set(CURLoption option, Value value) {
    curl_easy_setopt(easy_.get(), option, value);
  }
  // The address that `reach` kept it from.
  const std::optional<std::string>& refused() const { return refused_; }
  // What befell it. `started`: status and headers had come. `detail`: instead of curl's own words.
  Error failure(CURLcode code, bool started, std::string_view detail = {}) const;

 private:
  static curl_socket_t on_open(void* to, curlsocktype purpose, curl_sockaddr* wanted);

  const CurlOptions& options_;
  const std::string origin_;
  CurlList answers_;  // instead of a name lookup's
  std::unique_ptr<CURL, void (*)(CURL*)> easy_{curl_easy_init(), curl_easy_cleanup};
  std::array<char, CURL_ERROR_SIZE> detail_{};
  std::optional<std::string> refused_;
};

}  // namespace deputy
