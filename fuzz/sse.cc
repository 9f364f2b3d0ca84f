// What a stream says does not depend on where it was cut, and no event is larger than the limit. The first
// bytes choose the cuts.
#include "net/sse.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "must.h"

using namespace deputy;

namespace {

constexpr std::size_t kMost = 64;

struct Told {
  std::vector<std::pair<std::string, std::string>> events;
  bool overflowed = false;
  bool operator==(const Told&) const = default;
};

template <class Step>
Told told_by(std::string_view text, Step step) {
  Told told;
  SseDecoder decoder(kMost);
  const auto sink = [&](const SseEvent& event) {
    must(event.data.size() <= kMost && !event.name.empty() && event.name.size() <= kMost);
    must(event.data.find('\r') == std::string::npos);
    told.events.emplace_back(event.name, event.data);
  };
  while (!text.empty()) {
    const std::size_t count = std::min<std::size_t>(text.size(), step());
    decoder.feed(text.substr(0, count), sink);
    text.remove_prefix(count);
  }
  decoder.finish(sink);
  told.overflowed = decoder.overflowed();
  return told;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  if (size < 3) return 0;
  const std::uint8_t cuts[] = {bytes[0], bytes[1], bytes[2]};
  const std::string_view text(reinterpret_cast<const char*>(bytes + 3), size - 3);
  std::size_t turn = 0;
  const Told whole = told_by(text, [&] { return text.size(); });
  must(told_by(text, [] { return std::size_t(1); }) == whole);
  must(told_by(text, [&] { return std::size_t(1 + cuts[turn++ % 3]); }) == whole);
  return 0;
}
