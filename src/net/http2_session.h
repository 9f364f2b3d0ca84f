// HTTP/2 as a client speaks it on one connection, without the connection: bytes of the peer's in, bytes for
// it out (nghttp2 knows the frames). Streams that are under way cost nothing while nothing comes for them.
#pragma once

#include <nghttp2/nghttp2.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/result.h"
#include "net/network.h"

namespace deputy {

// At a time on one connection, where the peer allows as many; what servers usually allow.
inline constexpr std::size_t kMostStreams = 100;
// What the peer may send of a body before any of it was taken.
inline constexpr std::int32_t kStreamWindow = 1 << 20;

using StreamId = std::int32_t;

struct Http2End {
  // refused: the peer has not looked at the request, or the connection, which had served others before, broke
  // and nothing at all had come on it since: it may be sent again elsewhere. given_up: by us.
  enum class How { complete, refused, cut, given_up };
  How how = How::cut;
  std::string why;   // for people, where it was cut
  std::string body;  // the request's, where it was refused
};

// Who reads the answer of a stream. It is called from within take() and next_to_send(), and may call start(),
// give_up() and taken() then; also from within end_all(), after which there is nothing to start.
class Http2Reader {
 public:
  virtual void head(HttpResponse response) = 0;    // once
  virtual void bytes(std::string_view piece) = 0;  // after it
  virtual void end(Http2End end) = 0;              // the last call
 protected:
  ~Http2Reader() = default;
};

// The lines of a request's head as HTTP/2 has them; the URL must be one that can be asked.
HttpHeaders http2_head(const HttpRequest& request);

class Http2Session {
 public:
  Http2Session();
  // Readers are not told.
  ~Http2Session();
  Http2Session(const Http2Session&) = delete;

  // How many more streams may start now: one before it is known how many the peer allows; none once it is
  // about to go.
  std::size_t room() const;
  // The peer has said how many it allows.
  bool knows_room() const { return knows_settings_; }
  std::size_t streams() const { return streams_.size(); }

  // The reader is there until its end, or until the stream is given up. Throws where there is no memory.
  StreamId start(const HttpHeaders& head, std::string body, Http2Reader& reader);
  void give_up(StreamId stream);
  // So many bytes of the body have been worked on: the peer may send as many more.
  void taken(StreamId stream, std::size_t bytes);

  // What the peer sent. An error: what it sends is not HTTP/2, and nothing more can be said to it.
  Result<void> take(std::string_view bytes);
  // The next bytes for the peer, empty where there are none; good until the next call. Takes what it hands
  // out. An error: nothing more can be said to it.
  Result<std::string_view> next_to_send();
  // Both sides have said that they are done.
  bool is_over() const;
  // Ends all streams in this way.
  void end_all(const Http2End& end);

 private:
  struct Stream;
  struct Callbacks;
  std::unique_ptr<nghttp2_session, void (*)(nghttp2_session*)> session_{nullptr, nghttp2_session_del};
  std::unordered_map<StreamId, std::unique_ptr<Stream>> streams_;
  bool knows_settings_ = false;
  bool has_served_ = false;  // an answer was whole
  std::uint64_t taken_ = 0;  // how often something came
};

}  // namespace deputy
