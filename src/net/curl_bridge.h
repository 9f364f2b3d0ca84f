// libcurl's multi handle on the loop: curl says which sockets it waits for and when it wants to be called,
// the bridge waits with Asio and the loop's timers and calls it. For this folder only.
#pragma once

#include <curl/curl.h>

#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "async/loop.h"
#include "net/socket_watch.h"

namespace deputy {

class CurlBridge {
 public:
  // Called once for each handle that was added, outside of curl.
  using Ended = std::move_only_function<void(CURLcode)>;

  explicit CurlBridge(SystemLoop& loop);
  // Handles under way end with CURLE_ABORTED_BY_CALLBACK.
  ~CurlBridge();
  CurlBridge(const CurlBridge&) = delete;

  // Not from within a callback of curl's. When it has ended it is no longer part of the bridge.
  void add(CURL* easy, Ended ended);
  // The same for a handle with CURLOPT_CONNECT_ONLY: one that has connected stays part of the bridge, and its
  // connection with it, until it is aborted.
  void connect(CURL* easy, Ended connected);
  // Takes the handle out and closes its stream, or its connection if that cannot be shared, at once; from
  // within a callback of curl's, as soon as that has returned. If it had not ended before it ends with
  // CURLE_ABORTED_BY_CALLBACK.
  void abort(CURL* easy);
  // Lets a handle that was paused go on. Not from within a callback of curl's.
  void go_on(CURL* easy);

 private:
  struct UnderWay {
    Ended ended;  // empty when it was called
    bool stays_connected = false;
  };
  static int on_socket(CURL* easy, curl_socket_t socket, int what, void* bridge, void* per_socket);
  static int on_timer(CURLM* multi, long timeout_ms, void* bridge);

  void add(CURL* easy, UnderWay added);
  void act(curl_socket_t socket, int events);
  void act_soon();
  void settle();
  void end(CURL* easy, CURLcode code);

  SystemLoop& loop_;
  CURLM* multi_;
  bool inside_ = false;  // curl is on the stack, and must not be called
  std::optional<TimerId> timer_;
  bool acts_soon_ = false;
  std::unordered_map<curl_socket_t, std::unique_ptr<SocketWatch>> watches_;
  std::unordered_map<CURL*, UnderWay> under_way_;
  std::vector<CURL*> to_abort_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace deputy
