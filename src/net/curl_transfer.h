// One exchange that libcurl makes: a handle with every option set, and what curl calls while it goes on. For
// curl_network.cc only.
#pragma once

#include <curl/curl.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "net/curl_bridge.h"
#include "net/curl_handle.h"
#include "net/delivery.h"

namespace deputy {

// Shared by the exchange's coroutine and the bridge, and where it stands until both have let go.
class CurlTransfer final : public Delivery {
 public:
  // `options` outlive it.
  CurlTransfer(HttpRequest request, HttpSink sink, std::string origin, const CurlOptions& options);

  void start_on(CurlBridge& bridge, std::shared_ptr<CurlTransfer> self);
  // Waits for the end. The network may be gone afterwards.
  Task<Result<HttpEnd>> finish();

 private:
  static std::size_t on_header(char* data, std::size_t one, std::size_t size, void* to);
  static std::size_t on_body(char* data, std::size_t one, std::size_t size, void* to);
  static int on_connected(void* to, char* address, char* own, int port, int own_port);

  void give_up() override;
  void go_on() override;
  void set_request();
  void set_callbacks();
  bool take_head_line(std::string_view line);

  HttpRequest request_;
  CurlList headers_;
  CurlHandle handle_;

  CurlBridge* bridge_ = nullptr;  // while it is under way
  bool started_ = false;
  std::size_t head_bytes_ = 0;
  HttpHeaders lines_;
  CURLcode code_ = CURLE_OK;  // when it has ended
};

}  // namespace deputy
