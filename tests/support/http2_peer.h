// The server's half of HTTP/2 for tests, as little of it as they need: frames in and out, without looking at
// what a request's header block says. Settings and pings are answered by itself.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>

#include "support/loopback_server.h"

namespace deputy {

struct Http2Frame {
  enum Type : std::uint8_t {
    data = 0,
    headers = 1,
    rst_stream = 3,
    settings = 4,
    ping = 6,
    go_away = 7,
    window_update = 8
  };
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
  // No more at a time than the client has room for. False: it has gone, or there never was more.
  bool send(std::uint32_t stream, const std::string& bytes);
  void end(std::uint32_t stream);
  enum Reason : std::uint32_t { internal_error = 2, refused_stream = 7 };
  void reset(std::uint32_t stream, Reason reason = internal_error);
  void go_away(std::uint32_t last_stream);

 private:
  std::optional<Http2Frame> read();
  void write(const Http2Frame& frame);
  Peer& peer_;
  std::int64_t first_window_ = 65'535;
  std::map<std::uint32_t, std::int64_t> windows_;
  std::deque<Http2Frame> ahead_;
};

}  // namespace deputy
