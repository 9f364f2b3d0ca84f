// The system's network: libcurl on the loop, no thread of its own but for name lookups. Reads no environment
// and no file but the CA bundle: what it should know is in CurlOptions. HTTP/2 where TLS agrees on it, many
// exchanges on one connection; HTTP/1.1 otherwise, as many connections as there are exchanges.
#pragma once

#include <memory>
#include <string>

#include "async/loop.h"
#include "net/network.h"

namespace deputy {

struct CurlOptions {
  std::string ca_file;      // instead of the system's bundle
  std::string https_proxy;  // for https:// URLs; may hold a user and a password
  std::string no_proxy;     // hosts that are reached without it, separated by commas
};

class CurlNetwork final : public Network {
 public:
  // The loop outlives it. Everything happens on the loop's thread.
  explicit CurlNetwork(SystemLoop& loop, CurlOptions options = {});
  // Exchanges under way end with Error::cancelled.
  ~CurlNetwork() override;
  Task<Result<HttpEnd>> exchange(HttpRequest request, HttpSink sink, StopToken stop) override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace deputy
