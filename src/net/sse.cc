#include "net/sse.h"

#include <utility>

namespace deputy {

void SseDecoder::feed(std::string_view bytes, const Sink& sink) {
  while (!bytes.empty()) {
    if (after_cr_) {
      after_cr_ = false;
      if (bytes.front() == '\n') {
        bytes.remove_prefix(1);
        continue;
      }
    }
    const std::size_t end = bytes.find_first_of("\r\n");
    const std::string_view piece = bytes.substr(0, end);
    if (is_line_too_large_ || line_.size() + piece.size() > most_bytes_) {
      is_line_too_large_ = is_too_large_ = overflowed_ = true;
      line_.clear();
    } else {
      line_.append(piece);
    }
    if (end == std::string_view::npos) return;
    after_cr_ = bytes[end] == '\r';
    bytes.remove_prefix(end + 1);
    if (std::exchange(is_line_too_large_, false)) {
      at_start_ = false;
    } else {
      take_line(line_, sink);
    }
    line_.clear();
  }
}

void SseDecoder::finish(const Sink& sink) {
  if (!line_.empty()) take_line(line_, sink);
  line_.clear();
  dispatch(sink);
}

void SseDecoder::take_line(std::string_view line, const Sink& sink) {
  if (at_start_) {
    at_start_ = false;
    if (line.starts_with("\xef\xbb\xbf")) line.remove_prefix(3);
  }
  if (line.empty()) return dispatch(sink);
  const std::size_t colon = line.find(':');
  const std::string_view field = line.substr(0, colon);
  std::string_view value = colon == std::string_view::npos ? std::string_view{} : line.substr(colon + 1);
  if (value.starts_with(' ')) value.remove_prefix(1);
  if (field == "event") {
    event_.name = value;
  } else if (field == "data") {
    if (event_.data.size() + has_data_ + value.size() > most_bytes_) {
      is_too_large_ = overflowed_ = true;
      event_.data.clear();
      return;
    }
    if (has_data_) event_.data += '\n';
    event_.data += value;
    has_data_ = true;
  }
}

void SseDecoder::dispatch(const Sink& sink) {
  if (!event_.data.empty() && !is_too_large_) {
    if (event_.name.empty()) event_.name = "message";
    sink(event_);
  }
  event_ = {};
  has_data_ = is_too_large_ = false;
}

}  // namespace deputy
