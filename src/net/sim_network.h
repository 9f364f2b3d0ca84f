// A network of scripts, for tests: what a URL answers is defined by prefix, delays pass on the loop's clock,
// and faults come where the script says. A URL that nothing was defined for is a host that does not exist.
// Reach::public_only is kept: a host stands for the addresses it was defined with.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "async/loop.h"
#include "net/network.h"

namespace deputy {

enum class SimFault {
  none,
  refused,      // nobody listens
  unreachable,  // no connection comes about within the request's connect_timeout
  cut,          // the connection breaks
  silence,      // nothing more comes until it is stopped
};

struct SimChunk {
  std::string bytes;
  Duration after{};  // since what came before it
};

struct SimExchange {
  int status = 200;
  HttpHeaders headers;  // names in lower case
  std::vector<SimChunk> chunks;
  Duration delay{};  // before the status
  SimFault fault = SimFault::none;
  // For cut and silence: the bytes of the body that still arrive. Nothing: not even the status does.
  std::optional<std::size_t> fault_after;
};

class SimNetwork final : public Network {
 public:
  using Server = std::function<SimExchange(const HttpRequest&)>;
  explicit SimNetwork(Loop& loop) : loop_(loop) {}
  // The longest prefix wins; the same one again replaces it. Each lookup of the name answers with the next of
  // `addresses`, in the end with the last; without any it is a public one, or the address in the URL.
  void define(std::string url_prefix, Server server, std::vector<std::string> addresses = {});
  Task<Result<HttpEnd>> exchange(HttpRequest request, HttpSink sink, StopToken stop) override;

 private:
  struct Host {
    Server server;
    std::vector<std::string> addresses;
    std::size_t lookups = 0;
  };
  Host* host_for(const std::string& url);

  Loop& loop_;
  std::map<std::string, Host> hosts_;
};

}  // namespace deputy
