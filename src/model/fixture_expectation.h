// What a recorded answer must come to, written down in tests; how it is held against a replay.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "base/text.h"
#include "model/dialect.h"
#include "model/fixture_errors.h"

namespace deputy {

struct ExpectedReply {
  std::string name;
  ReplyStop stop = ReplyStop::finished;
  std::string text = {};  // all of it, or its beginning where `bytes` is given
  std::size_t bytes = 0;
  std::uint32_t crc = 0;
  std::size_t thinking_bytes = 0;
  std::vector<Call> calls = {};
  Usage usage = {};
};

struct ExpectedFailure {
  std::string name;
  Failure::Kind kind = Failure::Kind::transient;
  std::string says;
  std::optional<Duration> retry_after = std::nullopt;
  Usage usage = {};
  int status = 0;  // where nothing beside the body says it
};

inline void expect_reply(const Replayed& replayed, const ExpectedReply& expected) {
  SCOPED_TRACE(expected.name);
  ASSERT_TRUE(replayed.outcome.has_value()) << replayed.outcome.error().message;
  const Reply& reply = *replayed.outcome;
  EXPECT_EQ(reply.stop, expected.stop);
  EXPECT_EQ(reply.message.role, Role::assistant);
  if (expected.bytes == 0) {
    EXPECT_EQ(reply.message.text, expected.text);
  } else {
    EXPECT_TRUE(reply.message.text.starts_with(expected.text)) << reply.message.text;
    EXPECT_EQ(reply.message.text.size(), expected.bytes);
    EXPECT_EQ(crc32(reply.message.text), expected.crc);
  }
  EXPECT_EQ(replayed.streamed, reply.message.text);
  EXPECT_EQ(reply.message.thinking.size(), expected.thinking_bytes);
  EXPECT_EQ(reply.message.calls, expected.calls);
  EXPECT_EQ(reply.usage, expected.usage);
  const bool is_explained = reply.stop == ReplyStop::refused || reply.stop == ReplyStop::context_exhausted;
  EXPECT_EQ(reply.error.empty(), !is_explained) << reply.error;
}

inline void expect_failure(const Failure& failure, const ExpectedFailure& expected) {
  SCOPED_TRACE(expected.name);
  EXPECT_EQ(failure.kind, expected.kind);
  EXPECT_TRUE(failure.message.contains(expected.says)) << failure.message;
  EXPECT_EQ(failure.message, on_one_line(failure.message));
  EXPECT_LE(utf8_length(failure.message), 400U);
  EXPECT_EQ(failure.retry_after, expected.retry_after);
  EXPECT_EQ(failure.usage, expected.usage);
}

inline Failure failure_from(const Dialect& dialect, const ExpectedFailure& expected) {
  Fixture fixture = load_fixture(expected.name);
  if (expected.status != 0) fixture.response.status = expected.status;
  expect_same_in_any_cuts(dialect, fixture);
  return dialect.failure(fixture.response, fixture.body, *from_iso8601("2026-11-15T15:14:45Z"));
}

// That every string which follows `before` in what came stands in what goes back.
inline void expect_carried(std::string_view came, std::string_view before, std::string_view goes_back) {
  for (std::size_t at = came.find(before); at != std::string_view::npos; at = came.find(before, at)) {
    at += before.size();
    const std::string_view value = came.substr(at, came.find('"', at) - at);
    EXPECT_TRUE(goes_back.contains(value)) << value;
  }
}

}  // namespace deputy
