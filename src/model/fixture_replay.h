// Recorded provider traffic in tests: loads a body with its status and headers from the folder that
// DEPUTY_FIXTURES names, and replays it through a dialect's decoder whole, byte by byte and in random pieces,
// insisting that the cuts make no difference. NEEDS_FIXTURES() skips a test where the folder is not given; in
// CI it fails it.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/disk.h"
#include "base/json.h"
#include "base/random.h"
#include "base/text.h"
#include "model/dialect.h"
#include "support/paths.h"

#define NEEDS_FIXTURES() NEEDS(fixtures_dir(), "DEPUTY_FIXTURES names no folder of recorded traffic")

namespace deputy {

struct Fixture {
  HttpResponse response{.status = 200};
  std::string body;
  json::object request;  // the body it answers, where that was kept
};

struct Replayed {
  std::expected<Reply, Failure> outcome;
  std::string streamed;  // the text deltas, joined
  bool complete = false;
};

namespace fixture_internal {

inline Result<std::string> read_below(std::string_view name) {
  TRY(const auto folder, SystemDisk().open(*fixtures_dir(), IfAbsent::fail));
  return folder->read(name, 0, 16 * 1024 * 1024);
}

// What lies in NAME.meta.json beside NAME.sse.
inline void add_meta(Fixture& fixture, const json::object& meta) {
  if (const auto* response = object_at(meta, "response")) {
    fixture.response.status = static_cast<int>(integer_or(*response, "status", 200));
    if (const auto* headers = object_at(*response, "headers")) {
      for (const auto& header : *headers) {
        if (const auto* value = header.value().if_string()) {
          fixture.response.headers.push_back({lowered(header.key()), std::string(*value)});
        }
      }
    }
  }
  const auto* request = object_at(meta, "request");
  if (const auto* body = request != nullptr ? object_at(*request, "body") : nullptr) fixture.request = *body;
}

// What lies in NAME.headers: a status line, then a header a line.
inline void add_headers(Fixture& fixture, std::string_view text) {
  for (const std::string_view line : lines_of(text)) {
    if (line.starts_with("HTTP/")) {
      const std::string_view status = line.substr(std::min(line.find(' ') + 1, line.size()));
      std::from_chars(status.data(), status.data() + status.size(), fixture.response.status);
    } else if (const std::size_t colon = line.find(':'); colon != std::string_view::npos) {
      fixture.response.headers.push_back(
          {lowered(line.substr(0, colon)), std::string(trimmed(line.substr(colon + 1)))});
    }
  }
}

inline Replayed replay_pieces(const Dialect& dialect, const std::vector<std::string_view>& pieces) {
  Replayed replayed;
  const DeltaSink sink = [&](const Delta& delta) {
    if (const auto* text = std::get_if<TextDelta>(&delta)) replayed.streamed += text->text;
  };
  const auto decoder = dialect.decoder();
  for (const std::string_view piece : pieces) decoder->feed(piece, sink);
  replayed.complete = decoder->is_complete();
  replayed.outcome = decoder->finish();
  return replayed;
}

inline std::vector<std::string_view> in_bytes(std::string_view body) {
  std::vector<std::string_view> pieces;
  for (std::size_t at = 0; at < body.size(); ++at) pieces.push_back(body.substr(at, 1));
  return pieces;
}

inline std::vector<std::string_view> in_random_pieces(std::string_view body, Random& random) {
  std::vector<std::string_view> pieces;
  while (!body.empty()) {
    pieces.push_back(body.substr(0, 1 + random.below(200)));
    body.remove_prefix(pieces.back().size());
  }
  return pieces;
}

inline void expect_equal(const Replayed& cut, const Replayed& whole, std::string_view how) {
  EXPECT_TRUE(cut.outcome == whole.outcome) << how;
  EXPECT_EQ(cut.streamed, whole.streamed) << how;
  EXPECT_EQ(cut.complete, whole.complete) << how;
}

}  // namespace fixture_internal

// "anthropic/tool-single.sse". A test that names one that is not there fails.
inline Fixture load_fixture(std::string_view name) {
  Fixture fixture;
  auto body = fixture_internal::read_below(name);
  if (!body) {
    ADD_FAILURE() << to_text(body.error());
    return fixture;
  }
  fixture.body = *std::move(body);
  const std::string stem(name.substr(0, name.rfind('.')));
  if (const auto meta = fixture_internal::read_below(stem + ".meta.json")) {
    if (const auto object = parse_json_object(*meta)) fixture_internal::add_meta(fixture, *object);
  }
  if (const auto headers = fixture_internal::read_below(stem + ".headers")) {
    fixture_internal::add_headers(fixture, *headers);
  }
  return fixture;
}

// Those that some test has something to say about: each adds its own, so that one that all have forgotten is
// found.
inline std::set<std::string>& listed_fixtures() {
  static std::set<std::string> names;
  return names;
}
template <class Recorded>
bool list_fixtures(const Recorded& recorded) {
  for (const auto& each : recorded) listed_fixtures().insert(std::string(each.name));
  return true;
}

// The bodies of a folder, as load_fixture wants them.
inline std::vector<std::string> fixture_names(std::string_view folder) {
  std::vector<std::string> names;
  const auto entries = [&]() -> Result<std::vector<Entry>> {
    TRY(const auto root, SystemDisk().open(*fixtures_dir(), IfAbsent::fail));
    return root->list(folder);
  }();
  if (!entries) {
    ADD_FAILURE() << to_text(entries.error());
    return names;
  }
  for (const Entry& entry : *entries) {
    if (entry.name.ends_with(".meta.json") || entry.name.ends_with(".headers") || entry.name.ends_with(".md"))
      continue;
    names.push_back(std::string(folder) + "/" + entry.name);
  }
  return names;
}

inline Replayed replay(const Dialect& dialect, std::string_view body) {
  const Replayed whole = fixture_internal::replay_pieces(dialect, {body});
  fixture_internal::expect_equal(fixture_internal::replay_pieces(dialect, fixture_internal::in_bytes(body)),
                                 whole, "byte by byte");
  SeededRandom random(crc32(body));
  for (int round = 0; round < 20; ++round) {
    const auto pieces = fixture_internal::in_random_pieces(body, random);
    fixture_internal::expect_equal(fixture_internal::replay_pieces(dialect, pieces), whole, "in pieces");
  }
  return whole;
}

}  // namespace deputy
