// Recorded errors in tests: an answer that is no stream is gathered by the attempt, not by a decoder, and
// must come to the same Failure in whatever pieces it arrives; and what tests say of a recorded answer.
#pragma once

#include <span>

#include "async/sim_loop.h"
#include "model/attempt.h"
#include "model/fixture_replay.h"
#include "model/outcome_text.h"
#include "net/sim_network.h"
#include "support/run.h"

namespace deputy {

inline std::expected<Reply, Failure> attempted(const Dialect& dialect, const Fixture& fixture,
                                               const std::vector<std::string_view>& pieces) {
  SimLoop loop(1);
  SimNetwork network(loop);
  network.define("http://model", [&](const HttpRequest&) {
    SimExchange answer{.status = fixture.response.status, .headers = fixture.response.headers};
    for (const std::string_view piece : pieces) answer.chunks.push_back({std::string(piece)});
    return answer;
  });
  return run(loop,
             attempt({.dialect = dialect, .network = network, .loop = loop, .clocks = {}, .on_accepted = {}},
                     {.method = "POST", .url = "http://model/"}, {}, {}));
}

inline void expect_same_in_any_cuts(const Dialect& dialect, const Fixture& fixture) {
  const auto whole = attempted(dialect, fixture, {fixture.body});
  ASSERT_FALSE(whole.has_value());
  if (fixture.response.status != 200) {
    EXPECT_EQ(whole.error().message, dialect.failure(fixture.response, fixture.body, WallTime{}).message);
  }
  EXPECT_TRUE(attempted(dialect, fixture, fixture_internal::in_bytes(fixture.body)) == whole)
      << "byte by byte";
  SeededRandom random(crc32(fixture.body));
  for (int round = 0; round < 20; ++round) {
    const auto pieces = fixture_internal::in_random_pieces(fixture.body, random);
    EXPECT_TRUE(attempted(dialect, fixture, pieces) == whole) << "in pieces";
  }
}

// Of status 200, and yet no stream.
inline void expect_no_answer_in_any_cuts(const Dialect& dialect, std::string_view name) {
  SCOPED_TRACE(name);
  Fixture fixture = load_fixture(name);
  fixture.response.status = 200;
  expect_same_in_any_cuts(dialect, fixture);
}

// A recorded answer, and what must come of it in the words of outcome_text.
struct Recorded {
  std::string_view name;
  std::string_view outcome;
  int status = 0;  // of an error, where nothing beside its body says it
};

inline Failure failure_from(const Dialect& dialect, const Recorded& recorded) {
  Fixture fixture = load_fixture(recorded.name);
  if (recorded.status != 0) fixture.response.status = recorded.status;
  expect_same_in_any_cuts(dialect, fixture);
  Failure failure = dialect.failure(fixture.response, fixture.body, *from_iso8601("2026-11-15T15:14:45Z"));
  EXPECT_EQ(failure.message, on_one_line(failure.message)) << recorded.name;
  EXPECT_LE(utf8_length(failure.message), 400U) << recorded.name;
  return failure;
}

inline void expect_failures(const Dialect& dialect, std::span<const Recorded> all) {
  for (const Recorded& recorded : all)
    EXPECT_EQ(api::outcome_text(failure_from(dialect, recorded)), recorded.outcome) << recorded.name;
}

inline void expect_outcomes(const Dialect& dialect, std::span<const Recorded> all) {
  for (const Recorded& recorded : all) {
    SCOPED_TRACE(recorded.name);
    const Replayed replayed = replay(dialect, load_fixture(recorded.name).body);
    EXPECT_EQ(api::outcome_text(replayed.outcome), recorded.outcome);
    if (replayed.outcome) EXPECT_EQ(replayed.streamed, replayed.outcome->message.text);
  }
}

// A stream that is cut anywhere before its end fails, and is never taken for a shorter answer.
inline void expect_no_shorter_answer(const Dialect& dialect, std::string_view name) {
  const std::string body = load_fixture(name).body;
  const std::size_t end = body.rfind("}");
  for (std::size_t size = 0; size < body.size(); ++size) {
    const auto decoder = dialect.decoder();
    decoder->feed(std::string_view(body).substr(0, size), {});
    ASSERT_EQ(decoder->finish().has_value(), size > end) << name << " cut at " << size;
  }
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
