// What must hold for every dialect, whatever bytes a provider sends: cuts make no difference, what goes back
// is valid JSON, only a turn that waits for them has calls, and what a person reads is one short line.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/text.h"
#include "choice.h"
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
  const DeltaSink nobody = [](const Delta&) {};
  for (; !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size())))
    decoder->feed(bytes.substr(0, piece), nobody);
  return decoder->finish();
}

inline void check_failure(const Failure& failure) {
  must(!failure.message.empty() && is_utf8(failure.message) && !failure.message.contains('\n'));
  must(utf8_length(failure.message) <= 500);
  must(!failure.retry_after || *failure.retry_after >= Duration{});
}

// Text that a person, another model or a tool wrote.
inline Message foreign_message(const std::string& text, std::size_t way) {
  switch (way % 3) {
    case 0:
      return {.role = Role::user, .text = text};
    case 1:
      return {.role = Role::assistant, .calls = {{text, text, text}}};
    default:
      return {.role = Role::tool, .results = {{.call_id = text, .content = text, .name = text}}};
  }
}

// What comes of the bytes, and what is sent of it.
inline std::expected<Reply, Failure> checked_turn(const Dialect& dialect, std::string_view bytes) {
  auto whole = decoded(dialect, bytes, bytes.size() + 1);
  if (whole) {
    must(is_json("[" + dialect.encode(whole->message) + "]"));  // a turn may be several fragments
    must(whole->stop == ReplyStop::calls || whole->stop == ReplyStop::paused || whole->message.calls.empty());
    must(is_utf8(whole->message.text) && is_utf8(whole->message.wire));
  } else {
    check_failure(whole.error());
  }
  return whole;
}

// What is sent of a text that is the bytes. Who wrote it is chosen by its length.
inline void check_foreign_turn(const Dialect& dialect, std::string_view bytes) {
  must(is_json(dialect.encode(foreign_message(std::string(bytes), bytes.size()))));
}

// Of the ways to cut the bytes, of what else they may be, one. The status of an error goes by the input's
// length too: in three, where there are four ways, so that they meet.
inline int fuzz_dialect(const Dialect& dialect, std::string_view bytes) {
  static constexpr std::array<int, 3> kStatuses{400, 429, 503};
  constexpr std::size_t kWays = 4;
  const auto whole = checked_turn(dialect, bytes);
  if (is_chosen(bytes.size(), 0, kWays)) must(decoded(dialect, bytes, 1) == whole);
  if (is_chosen(bytes.size(), 1, kWays)) must(decoded(dialect, bytes, 7) == whole);
  if (is_chosen(bytes.size(), 2, kWays)) check_foreign_turn(dialect, bytes);
  if (is_chosen(bytes.size(), 3, kWays)) {
    const int status = kStatuses[bytes.size() % kStatuses.size()];
    check_failure(dialect.failure({.status = status, .headers = {{"retry-after", std::string(bytes)}}}, bytes,
                                  WallTime{}));
  }
  return 0;
}

}  // namespace deputy
