// Server-sent events out of bytes that come in any pieces: what is dispatched does not depend on the cuts.
// Line ends may be LF, CR or CRLF, a byte order mark is passed over, comments are none of our business. An
// event larger than kMaxSseEventBytes is dropped and said so, never kept.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace deputy {

inline constexpr std::size_t kMaxSseEventBytes = 32 * 1024 * 1024;

struct SseEvent {
  std::string name;  // "message" where the stream gives none
  std::string data;  // its lines joined by LF
};

class SseDecoder {
 public:
  using Sink = std::function<void(const SseEvent&)>;
  explicit SseDecoder(std::size_t most_bytes = kMaxSseEventBytes) : most_bytes_(most_bytes) {}
  void feed(std::string_view bytes, const Sink& sink);
  // Some servers leave out the last blank line: what is pending when the body ends is an event too.
  void finish(const Sink& sink);
  // Some event was too large.
  bool overflowed() const { return overflowed_; }

 private:
  void take_line(std::string_view line, const Sink& sink);
  void dispatch(const Sink& sink);

  std::size_t most_bytes_;
  std::string line_;  // not ended yet
  SseEvent event_;
  bool has_data_ = false;
  bool after_cr_ = false;
  bool at_start_ = true;
  bool is_line_too_large_ = false;  // the rest of it is passed over
  bool is_too_large_ = false;
  bool overflowed_ = false;
};

}  // namespace deputy
