#include "net/http2_connection.h"

#include <openssl/ssl.h>

#include <array>
#include <cassert>
#include <utility>

namespace deputy {

namespace {

constexpr std::size_t kPiece = 16 * 1024;  // what one record of TLS holds
constexpr int kReadsInARow = 64;           // then it is the others' turn

}  // namespace

Http2Connection::Http2Connection(SystemLoop& loop, CurlBridge& bridge, const CurlOptions& options,
                                 std::unique_ptr<CurlHandle> handle, const SSL* tls, Changed changed)
    : loop_(loop),
      bridge_(bridge),
      options_(options),
      handle_(std::move(handle)),
      tls_(tls),
      changed_(std::move(changed)),
      heard_(loop.clock().now()) {
  curl_socket_t socket = CURL_SOCKET_BAD;
  curl_easy_getinfo(handle_->get(), CURLINFO_ACTIVESOCKET, &socket);
  watch_ = std::make_unique<SocketWatch>(loop_, socket, [this](int) { ready(); });
  write();  // at once: until then curl takes the connection for one that nobody uses
  listen();
  write_soon();
}

Http2Connection::~Http2Connection() {
  assert(!is_busy_ && "a sink must not destroy its network");
  *alive_ = false;
  lose({.how = Http2End::How::given_up});
  bridge_.abort(handle_->get());
}

std::size_t Http2Connection::room() const {
  if (is_lost_ || is_distrusted_) return 0;
  const bool is_forgotten = idle_since_ && loop_.clock().now() - *idle_since_ > options_.idle_for_most;
  return is_forgotten ? 0 : session_.room();
}

bool Http2Connection::is_over() const {
  return !is_busy_ && (is_lost_ || (session_.streams() == 0 && room() == 0));
}

StreamId Http2Connection::start(const HttpHeaders& head, std::string body, Http2Reader& reader) {
  write_soon();
  const StreamId stream = session_.start(head, std::move(body), reader);
  idle_since_.reset();
  return stream;
}

void Http2Connection::give_up(StreamId stream) {
  if (silent_for() > options_.silent_for_most) is_distrusted_ = true;
  session_.give_up(stream);
  write_soon();
}

void Http2Connection::taken(StreamId stream, std::size_t bytes) {
  session_.taken(stream, bytes);
  write_soon();
}

void Http2Connection::ready() {
  is_busy_ = true;
  read();
  write();
  is_busy_ = false;
  if (session_.streams() > 0) {
    idle_since_.reset();
  } else if (!idle_since_) {
    idle_since_ = loop_.clock().now();
  }
  changed_(*this);
}

// Up to what TLS holds: whether the socket has more its watch finds out for less than a call that gets
// nothing.
void Http2Connection::read() {
  has_read_ = false;
  std::array<char, kPiece> bytes;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled before it is read
  for (int i = 0; !is_lost_; ++i) {
    std::size_t count = 0;
    const CURLcode code = curl_easy_recv(handle_->get(), bytes.data(), bytes.size(), &count);
    if (code == CURLE_AGAIN) return;
    if (code != CURLE_OK) return lose(curl_easy_strerror(code));
    if (count == 0) return lose("the server closed the connection");
    has_read_ = true;
    heard_ = loop_.clock().now();
    if (const auto taken = session_.take({bytes.data(), count}); !taken) return lose(taken.error().message);
    if (!SSL_has_pending(tls_)) return;
    if (i == kReadsInARow) {
      loop_.post([this, alive = alive_] {
        if (*alive) ready();
      });
      return;
    }
  }
}

void Http2Connection::write() {
  while (!is_lost_) {
    if (unsent_.empty()) {
      out_.clear();
      while (out_.size() < kPiece) {
        const auto more = session_.next_to_send();
        if (!more) return lose(more.error().message);
        if (more->empty()) break;
        out_ += *more;
      }
      unsent_ = out_;
    }
    if (unsent_.empty()) break;
    std::size_t count = 0;
    const CURLcode code = curl_easy_send(handle_->get(), unsent_.data(), unsent_.size(), &count);
    if (code == CURLE_AGAIN) return;  // until it is ready for more
    if (code != CURLE_OK) return lose(curl_easy_strerror(code));
    unsent_.remove_prefix(count);
  }
  if (!is_lost_ && session_.is_over()) lose("what the server sent is not HTTP/2");
}

void Http2Connection::listen() {
  if (watch_) watch_->want(unsent_.empty() ? CURL_POLL_IN : CURL_POLL_INOUT);
}

bool Http2Connection::rest() {
  if (watch_) watch_->want(unsent_.empty() ? 0 : CURL_POLL_OUT);
  return !std::exchange(is_resting_, true);
}

void Http2Connection::look() {
  is_resting_ = false;
  ready();
}

// Once for all that one turn of the loop has to say; who is busy writes afterwards. It reads too: TLS may
// have more than the socket shows.
void Http2Connection::write_soon() {
  if (is_busy_ || writes_soon_) return;
  loop_.post([this, alive = alive_] {
    if (!*alive) return;
    writes_soon_ = false;
    ready();
  });
  writes_soon_ = true;
}

void Http2Connection::lose(std::string_view why) {
  lose({.how = Http2End::How::cut, .why = std::string(why)});
}

void Http2Connection::lose(const Http2End& end) {
  if (std::exchange(is_lost_, true)) return;
  watch_.reset();
  session_.end_all(end);
}

}  // namespace deputy
