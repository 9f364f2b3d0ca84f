#include "support/http2_peer.h"

#include <algorithm>
#include <utility>

namespace deputy {

namespace {

constexpr std::string_view kGreeting = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
constexpr std::size_t kMostPayload = 16384;
constexpr std::uint8_t kAck = 1, kEndStream = 1, kEndHeaders = 4;

std::string big_endian(std::uint32_t value, int bytes) {
  std::string out;
  for (int i = bytes - 1; i >= 0; --i) out += char(value >> (8 * i));
  return out;
}

std::uint32_t read_big_endian(std::string_view bytes) {
  std::uint32_t value = 0;
  for (const char c : bytes) value = value << 8 | static_cast<unsigned char>(c);
  return value;
}

}  // namespace

Http2Peer::Http2Peer(Peer& peer, std::uint32_t most_streams) : peer_(peer) {
  peer_.read_exactly(kGreeting.size());
  constexpr std::uint32_t kMaxConcurrentStreams = 3;
  write({.type = Http2Frame::settings,
         .payload = big_endian(kMaxConcurrentStreams, 2) + big_endian(most_streams, 4)});
}

std::optional<Http2Frame> Http2Peer::next() {
  if (ahead_.empty()) return read();
  Http2Frame frame = std::move(ahead_.front());
  ahead_.pop_front();
  return frame;
}

std::optional<Http2Frame> Http2Peer::read() {
  for (;;) {
    const std::string head = peer_.read_exactly(9);
    if (head.size() < 9) return std::nullopt;
    Http2Frame frame{.type = std::uint8_t(head[3]),
                     .flags = std::uint8_t(head[4]),
                     .stream = read_big_endian(std::string_view(head).substr(5)) & 0x7fffffff};
    frame.payload = peer_.read_exactly(read_big_endian(std::string_view(head).substr(0, 3)));
    if (frame.stream != 0 && frame.type != Http2Frame::window_update) return frame;
    if (frame.type == Http2Frame::window_update) {
      if (frame.stream == 0) continue;  // that of the connection is never what holds a test back
      windows_.try_emplace(frame.stream, first_window_).first->second += read_big_endian(frame.payload);
      return frame;
    }
    constexpr std::uint32_t kInitialWindowSize = 4;
    for (std::string_view left = frame.payload; frame.type == Http2Frame::settings && left.size() >= 6;
         left.remove_prefix(6)) {
      if (read_big_endian(left.substr(0, 2)) == kInitialWindowSize)
        first_window_ = read_big_endian(left.substr(2, 4));
    }
    if ((frame.type == Http2Frame::settings || frame.type == Http2Frame::ping) && !(frame.flags & kAck)) {
      write({.type = frame.type,
             .flags = kAck,
             .payload = frame.type == Http2Frame::ping ? frame.payload : std::string()});
    }
  }
}

std::uint32_t Http2Peer::next_request() {
  while (const auto frame = next()) {
    if (frame->ends_stream()) return frame->stream;
  }
  return 0;
}

void Http2Peer::start(std::uint32_t stream, int status) {
  // A header block of one line: `:status` by its number in the static table, with a literal value.
  const std::string block = "\x08\x03" + std::to_string(status);
  write({.type = Http2Frame::headers, .flags = kEndHeaders, .stream = stream, .payload = block});
}

bool Http2Peer::send(std::uint32_t stream, const std::string& bytes) {
  auto& window = windows_.try_emplace(stream, first_window_).first->second;
  for (std::size_t at = 0; at < bytes.size();) {
    while (window <= 0) {
      auto frame = read();
      if (!frame) return false;
      if (frame->type != Http2Frame::window_update) ahead_.push_back(*std::move(frame));
    }
    const std::string part = bytes.substr(at, std::min<std::size_t>(kMostPayload, std::size_t(window)));
    write({.type = Http2Frame::data, .stream = stream, .payload = part});
    window -= std::int64_t(part.size());
    at += part.size();
  }
  return true;
}

void Http2Peer::end(std::uint32_t stream) {
  write({.type = Http2Frame::data, .flags = kEndStream, .stream = stream});
}

void Http2Peer::reset(std::uint32_t stream, Reason reason) {
  write({.type = Http2Frame::rst_stream, .stream = stream, .payload = big_endian(reason, 4)});
}

void Http2Peer::go_away(std::uint32_t last_stream) {
  write({.type = Http2Frame::go_away, .payload = big_endian(last_stream, 4) + big_endian(0, 4)});
}

void Http2Peer::write(const Http2Frame& frame) {
  peer_.write(big_endian(std::uint32_t(frame.payload.size()), 3) + char(frame.type) + char(frame.flags) +
              big_endian(frame.stream, 4) + frame.payload);
}

}  // namespace deputy
