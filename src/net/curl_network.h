// The system's network: libcurl on the loop, no thread of its own but for name lookups, and nghttp2 on
// connections that curl made. Reads no environment and no file but the CA bundle: what it should know is in
// CurlOptions. To an https:// origin goes one connection until it is known what it speaks; then HTTP/2 shares
// connections, as few as its exchanges need, and HTTP/1.1, like http://, has as many as there are exchanges.
// Whom a connection must not be shared with (docs/decisions/0012) has one of its own.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "async/loop.h"
#include "net/ip_address.h"
#include "net/network.h"

namespace deputy {

struct CurlOptions {
  std::string ca_file;      // instead of the system's bundle
  std::string https_proxy;  // for https:// URLs; may hold a user and a password
  std::string http_proxy;   // for http:// URLs, the same
  std::string no_proxy;     // hosts that are reached without them, separated by commas
  // For tests: what a name lookup answers, as "host:port:address,address", and whom Reach::public_only
  // reaches.
  std::vector<std::string> lookups;
  std::function<bool(const SocketAddress&)> is_public = is_public_web;
  // How long a shared connection that nobody uses is trusted to be there still, and one on which an exchange
  // was given up to be merely slow.
  std::chrono::milliseconds idle_for_most{110'000};
  std::chrono::milliseconds silent_for_most{10'000};
};

class CurlBridge;
class CurlTransfer;
class Http2Exchange;

class CurlNetwork final : public Network {
 public:
  // The loop outlives it. Everything happens on the loop's thread.
  explicit CurlNetwork(SystemLoop& loop, CurlOptions options = {});
  // Exchanges under way end with Error::cancelled.
  ~CurlNetwork() override;
  Task<Result<HttpEnd>> exchange(HttpRequest request, HttpSink sink, StopToken stop) override;

 private:
  struct State;
  Task<Result<HttpEnd>> once_known(HttpRequest request, HttpSink sink, StopToken stop);
  static Task<Result<HttpEnd>> failed(Error error);
  static Task<Result<HttpEnd>> shared(std::shared_ptr<Http2Exchange> exchange, StopToken stop,
                                      std::weak_ptr<State> network);
  static Task<Result<HttpEnd>> separate(std::shared_ptr<CurlTransfer> transfer, StopToken stop,
                                        CurlBridge& bridge);
  std::shared_ptr<State> state_;  // weak ones tell an exchange that waits whether the network is still there
};

}  // namespace deputy
