// The server's half of HTTP/2 for tests, as little of it as they need: frames in and out, without looking at
// what a request's header block says. Settings and pings are answered by itself.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "support/loopback_server.h"

namespace deputy {

struct Http2Frame {
  enum Type : std::uint8_t { data = 0, headers = 1, rst_stream = 3, settings = 4, ping = 6, go_away = 7 };
  std::uint8_t type = 0;
  std::uint8_t flags = 0;
  std::uint32_t stream = 0;
  std::string payload;
  bool ends_stream() const { return (type == data || type == headers) && (flags & 1); }
};

class Http2Peer {
 public:
  // Takes the client's greeting and allows it this many streams at a time.
  Http2Peer(Peer& peer, std::uint32_t most_streams);
  // The next frame that is not about the connection itself; nothing when the client has gone.
  std::optional<Http2Frame> next();
  // The next stream that has sent all of its request; 0 when the client has gone.
  std::uint32_t next_request();

  void start(std::uint32_t stream, int status);
  void send(std::uint32_t stream, const std::string& bytes);
  void end(std::uint32_t stream);
  void reset(std::uint32_t stream);
  void go_away(std::uint32_t last_stream);

 private:
  void write(const Http2Frame& frame);
  Peer& peer_;
};

}  // namespace deputy
