// What models over the network stand on, shared by the whole process: the network itself, randomness for
// waits, and who may ask when. Nothing is opened before the first request, so a command that needs no network
// has none.
#pragma once

#include <memory>

#include "app/settings.h"
#include "async/loop.h"
#include "base/environment.h"
#include "base/random.h"
#include "model/governor.h"
#include "net/curl_network.h"  // seam: the program decides that this is its network

namespace deputy {

// SSL_CERT_FILE, HTTPS_PROXY and NO_PROXY (or in lower case, which wins), else the settings; http_proxy for
// servers without TLS. This machine is reached without any.
CurlOptions network_options(const NetworkSettings& settings, const Environment& environment);

// A network that comes to be when it is first used.
class LazyNetwork final : public Network {
 public:
  explicit LazyNetwork(SystemLoop& loop) : loop_(loop) {}
  // Before the first exchange.
  void configure(CurlOptions options) { options_ = std::move(options); }
  Task<Result<HttpEnd>> exchange(HttpRequest request, HttpSink sink, StopToken stop) override;

 private:
  SystemLoop& loop_;
  CurlOptions options_;
  std::unique_ptr<CurlNetwork> network_;
};

struct Connections {
  explicit Connections(SystemLoop& loop) : network(loop), governors(loop) {}
  LazyNetwork network;
  SystemRandom random;
  Governors governors;
};

}  // namespace deputy
