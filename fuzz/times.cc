// Text as a moment, a duration or a wait: what is read can be said again and is within what can be meant.
#include <cstdint>
#include <cstdlib>

#include "base/clock.h"
#include "model/retry_after.h"

using namespace deputy;

namespace {

void must(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  constexpr WallTime kFarOff{std::chrono::seconds{253'000'000'000}};  // in the year 9987
  if (const auto moment = from_iso8601(text); moment && *moment >= WallTime{} && *moment < kFarOff)
    must(from_iso8601(to_iso8601(*moment)) == moment);
  if (const auto duration = parse_duration(text))
    must(*duration >= Duration{} && !to_text(*duration).empty());
  if (const auto wait = parse_wait(text)) must(*wait >= Duration{} && *wait <= kLongestWait);
  const WallTime now{std::chrono::seconds{1'800'000'000}};
  for (const char* name : {"retry-after", "retry-after-ms"}) {
    const auto wait = retry_after({{name, std::string(text)}}, now);
    must(!wait || (*wait >= Duration{} && *wait <= kLongestWait));
  }
  return 0;
}
