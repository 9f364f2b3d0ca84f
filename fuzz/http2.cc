// Whatever a server sends on a connection of HTTP/2: each stream is told of in order and ends once, and where
// the bytes were cut makes no difference while the connection lasts. The first bytes choose the cut and which
// stream is given up.
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "must.h"
#include "net/http2_session.h"

using namespace deputy;

namespace {

constexpr std::size_t kStreams = 3;

struct Told final : Http2Reader {
  int status = 0;
  HttpHeaders headers;
  std::string body;
  bool is_over = false;
  bool is_given_up = false;
  Http2End::How how = Http2End::How::given_up;

  void head(HttpResponse response) override {
    must(!is_over && !is_given_up && status == 0 && response.status >= 200);
    status = response.status;
    headers = std::move(response.headers);
  }
  void bytes(std::string_view piece) override {
    must(!is_over && !is_given_up && status != 0);
    body += piece;
  }
  void end(Http2End end) override {
    must(!is_over && !is_given_up);
    must(end.how != Http2End::How::complete || status != 0);
    must(end.how != Http2End::How::refused || (status == 0 && end.body == "question"));
    is_over = true;
    how = end.how;
  }
  bool operator==(const Told& other) const {
    return status == other.status && headers == other.headers && body == other.body && how == other.how;
  }
};

struct Outcome {
  std::vector<std::unique_ptr<Told>> told;
  bool is_sound = true;  // the server broke no rule that the connection ends by
};

Outcome told_by(std::string_view bytes, std::size_t step, std::size_t given_up) {
  Outcome outcome;
  auto& told = outcome.told;
  Http2Session session;
  const HttpHeaders head{{":method", "POST"}, {":scheme", "https"}, {":authority", "a"}, {":path", "/"}};
  const auto send_all = [&session] {
    while (!session.next_to_send().value_or("").empty()) {
    }
  };
  std::vector<StreamId> streams;
  for (std::size_t i = 0; i < kStreams; ++i) {
    told.push_back(std::make_unique<Told>());
    streams.push_back(session.start(head, "question", *told.back()));
  }
  send_all();
  if (given_up < kStreams) {
    told[given_up]->is_given_up = true;
    session.give_up(streams[given_up]);
  }
  while (!bytes.empty() && !session.is_over()) {
    const auto part = bytes.substr(0, step);
    bytes.remove_prefix(part.size());
    outcome.is_sound = session.take(part).has_value();
    if (!outcome.is_sound) break;
    must(session.room() <= kMostStreams && session.streams() <= kStreams);
  }
  send_all();
  outcome.is_sound = outcome.is_sound && !session.is_over();
  session.end_all({.how = Http2End::How::cut});
  for (std::size_t i = 0; i < kStreams; ++i) must(told[i]->is_over || i == given_up);
  return outcome;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  if (size < 2) return 0;
  const std::string_view text(reinterpret_cast<const char*>(bytes + 2), size - 2);
  const std::size_t given_up = bytes[1];
  const auto whole = told_by(text, text.size() + 1, given_up);
  const auto parts = told_by(text, 1 + bytes[0], given_up);
  if (!whole.is_sound || !parts.is_sound)
    return 0;  // what is told of a connection that ends may be more or less
  for (std::size_t i = 0; i < kStreams; ++i) must(*whole.told[i] == *parts.told[i]);
  return 0;
}
