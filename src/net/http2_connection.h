// A connection that curl made (name, proxy, TLS) and on which HTTP/2 is spoken. It is read and written when
// its socket is ready, whatever the number of streams on it. For this folder only.
#pragma once

#include <openssl/types.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "async/loop.h"
#include "net/curl_bridge.h"
#include "net/curl_handle.h"
#include "net/http2_session.h"
#include "net/socket_watch.h"

namespace deputy {

class Http2Connection {
 public:
  // After streams have ended, or the connection itself. May destroy it, which a reader must not.
  using Changed = std::function<void(Http2Connection&)>;

  // `handle` has connected on the bridge, which outlives this, as do the options; `tls` is what its
  // connection speaks.
  Http2Connection(SystemLoop& loop, CurlBridge& bridge, const CurlOptions& options,
                  std::unique_ptr<CurlHandle> handle, const SSL* tls, Changed changed);
  // Streams under way are given up.
  ~Http2Connection();
  Http2Connection(const Http2Connection&) = delete;

  // How many more streams may start. None on one that is not trusted with more, or has been without any for
  // so long that somebody on the way may have forgotten it.
  std::size_t room() const;
  // There will be more when the server has said how much it allows.
  bool is_new() const { return !is_over() && !session_.knows_room(); }
  bool is_over() const;

  // After each change one of these: it waits for what comes, or rests, until look() is called or it has
  // something to say. False: it rests already.
  void listen();
  bool rest();
  void look();
  // Whether the last look at the socket brought something.
  bool has_read() const { return has_read_; }

  StreamId start(const HttpHeaders& head, std::string body, Http2Reader& reader);
  // Where nothing has come on this connection for a while it is not trusted with more.
  void give_up(StreamId stream);
  void distrust() { is_distrusted_ = true; }
  void taken(StreamId stream, std::size_t bytes);

 private:
  // Reads and writes, and tells that it did.
  void ready();
  void read();
  void write();
  void write_soon();
  void lose(const Http2End& end);
  void lose(std::string_view why);
  Duration silent_for() const { return loop_.clock().now() - heard_; }

  SystemLoop& loop_;
  CurlBridge& bridge_;
  const CurlOptions& options_;
  const std::unique_ptr<CurlHandle> handle_;
  const SSL* const tls_;  // the handle's
  const Changed changed_;
  Http2Session session_;
  std::string out_;          // where it is until all of it was taken: TLS wants to see it again
  std::string_view unsent_;  // of it
  bool writes_soon_ = false;
  bool has_read_ = false;
  bool is_resting_ = false;
  bool is_busy_ = false;  // readers are told of what comes: it must stay, and writes in any case
  bool is_lost_ = false;
  bool is_distrusted_ = false;
  TimePoint heard_;
  std::optional<TimePoint> idle_since_;  // seen to have no stream
  std::unique_ptr<SocketWatch> watch_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace deputy
