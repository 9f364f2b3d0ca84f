// What must hold for every dialect, whatever bytes a provider sends: cuts make no difference, what goes back
// is valid JSON, only a turn that waits for them has calls, and what a person reads is one short line.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/json.h"
#include "base/text.h"
#include "model/dialect.h"
#include "must.h"

namespace deputy {

// What came as deep as it may be stands a few levels deeper in what goes back.
inline bool is_json(std::string_view text) {
  boost::system::error_code error;
  json::parse(text, error, {}, {.max_depth = 2 * kMaxJsonDepth});
  return !error;
}

inline std::expected<Reply, Failure> decoded(const Dialect& dialect, std::string_view bytes,
                                             std::size_t piece) {
  const auto decoder = dialect.decoder();
  for (; !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size()))) {
    decoder->feed(bytes.substr(0, piece), [](const Delta&) {});
  }
  return decoder->finish();
}

inline void check_failure(const Failure& failure) {
  must(!failure.message.empty() && is_utf8(failure.message) && !failure.message.contains('\n'));
  must(utf8_length(failure.message) <= 500);
  must(!failure.retry_after || *failure.retry_after >= Duration{});
}

inline int fuzz_dialect(const Dialect& dialect, std::string_view bytes) {
  const auto whole = decoded(dialect, bytes, bytes.size() + 1);
  must(decoded(dialect, bytes, 1) == whole);
  must(decoded(dialect, bytes, 7) == whole);
  if (whole) {
    must(is_json("[" + dialect.encode(whole->message) + "]"));  // a turn may be several fragments
    must(whole->stop == ReplyStop::calls || whole->stop == ReplyStop::paused || whole->message.calls.empty());
    must(is_utf8(whole->message.text) && is_utf8(whole->message.wire));
  } else {
    check_failure(whole.error());
  }
  for (const int status : {400, 429, 503}) {
    check_failure(dialect.failure({.status = status, .headers = {{"retry-after", std::string(bytes)}}}, bytes,
                                  WallTime{}));
  }
  // Text that a person, a tool or another model wrote.
  const std::string text(bytes);
  must(is_json(dialect.encode(Message{.role = Role::user, .text = text})));
  must(is_json(dialect.encode(Message{.role = Role::assistant, .calls = {{text, text, text}}})));
  const ToolResult result{.call_id = text, .content = text, .name = text};
  must(is_json(dialect.encode(Message{.role = Role::tool, .results = {result}})));
  return 0;
}

}  // namespace deputy
