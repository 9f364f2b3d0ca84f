// A server that goes wrong as it is told, on the loopback and in real time: each request is answered by a
// program of steps. Nothing waits without a bound, and every wait ends when the client goes.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <mutex>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "support/loopback_server.h"

namespace deputy {

namespace fault {
struct Send {
  std::string bytes;
};
// A byte at a time.
struct Drip {
  std::string bytes;
  std::chrono::milliseconds gap{1};
};
// The same again and again, up to so many bytes or until the client goes.
struct Flood {
  std::string bytes;
  std::size_t most;
  std::chrono::milliseconds gap{0};
};
struct Silence {};   // until the client goes
struct Reset {};     // the connection ends with a RST
struct KeepOpen {};  // the next request is taken on the same connection; else it is closed
}  // namespace fault

using FaultStep =
    std::variant<fault::Send, fault::Drip, fault::Flood, fault::Silence, fault::Reset, fault::KeepOpen>;
using FaultProgram = std::vector<FaultStep>;

// The head and body of an answer. Without a content-length among its headers the body ends with the
// connection.
std::string http_answer(int status, const std::vector<std::pair<std::string, std::string>>& headers,
                        const std::string& body);
std::string in_chunks(const std::string& body, std::size_t size);  // as Transfer-Encoding: chunked has them

class FaultServer {
 public:
  // The n-th request is answered by the n-th program, all after them by the last.
  explicit FaultServer(std::vector<FaultProgram> programs);
  // Each is answered by what this says to it, on its connection's thread; none is kept.
  using Answer = std::function<FaultProgram(const std::string& request)>;
  explicit FaultServer(Answer answer);

  std::string url() const { return server_.url(""); }
  int connections() const { return server_.connections(); }
  std::vector<std::string> requests() const;  // as they came, heads and bodies

 private:
  FaultProgram next(std::string request);
  void play(Peer& peer);

  const std::vector<FaultProgram> programs_;
  const Answer answer_;
  mutable std::mutex mutex_;
  std::vector<std::string> requests_;
  LoopbackServer server_;
};

}  // namespace deputy
