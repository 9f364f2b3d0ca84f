// libcurl's multi handle on the loop: curl says which sockets it waits for and when it wants to be called,
// the bridge waits with Asio and the loop's timers and calls it. For curl_network.cc only.
#pragma once

#include <curl/curl.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "async/loop.h"

namespace deputy {

class CurlBridge {
 public:
  // Called once for each handle that was added, outside of curl, when it is no longer part of the bridge.
  using Ended = std::move_only_function<void(CURLcode)>;
  enum class Connections { unlimited, shared };

  // `shared`: beyond one connection's streams, the number of connections is held to what the exchanges under
  // way need on HTTP/2; else curl opens one for each that finds the others full.
  CurlBridge(SystemLoop& loop, Connections connections);
  // Handles under way end with CURLE_ABORTED_BY_CALLBACK.
  ~CurlBridge();
  CurlBridge(const CurlBridge&) = delete;

  // Not from within a callback of curl's.
  void add(CURL* easy, Ended ended);
  // Takes the handle out and closes its stream, or its connection if that cannot be shared, at once; from
  // within a callback of curl's, as soon as that has returned. It ends with CURLE_ABORTED_BY_CALLBACK.
  void abort(CURL* easy);
  // Lets a handle that was paused go on. Not from within a callback of curl's.
  void go_on(CURL* easy);

 private:
  struct Watch;
  static int on_socket(CURL* easy, curl_socket_t socket, int what, void* bridge, void* per_socket);
  static int on_timer(CURLM* multi, long timeout_ms, void* bridge);

  void arm(const std::shared_ptr<Watch>& watch);
  void wait(const std::shared_ptr<Watch>& watch, int direction);
  void ready(const std::shared_ptr<Watch>& watch, int direction, int events);
  void act(curl_socket_t socket, int events);
  void act_soon();
  void settle();
  void end(CURL* easy, CURLcode code);
  void limit_connections();

  SystemLoop& loop_;
  CURLM* multi_;
  const Connections connections_;
  long limit_ = 0;
  bool inside_ = false;  // curl is on the stack, and must not be called
  std::optional<TimerId> timer_;
  bool acts_soon_ = false;
  std::unordered_map<curl_socket_t, std::shared_ptr<Watch>> watches_;
  std::unordered_map<CURL*, Ended> under_way_;
  std::vector<CURL*> to_abort_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace deputy
