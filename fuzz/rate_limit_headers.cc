// Whatever the lines of a head say, each is one header or none, and a limit stays within what can be meant.
#include "model/rate_limit_headers.h"

#include "base/text.h"
#include "model/retry_after.h"
#include "model/token_quota.h"
#include "must.h"

using namespace deputy;

namespace {

void check(const std::optional<RateLimit>& limit) {
  if (!limit) return;
  must(limit->limit >= 1 && limit->remaining >= 0 && limit->remaining <= limit->limit);
  must(limit->full_in >= Duration{} && limit->full_in <= kLongestWait);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  HttpHeaders headers;
  for (const std::string_view line : lines_of(text)) {
    auto header = header_in(line);
    must(header.has_value() == line.contains(':'));
    if (!header) continue;
    must(!header->name.contains(':') && trimmed(header->value) == header->value);
    headers.push_back(*std::move(header));
    must(find_header(headers, headers.back().name).has_value());
  }
  const RateLimits limits = parse_rate_limits(headers, WallTime{std::chrono::seconds{1'800'000'000}});
  check(limits.requests);
  check(limits.tokens);
  const auto refilled = time_until_refilled(headers, WallTime{std::chrono::seconds{1'800'000'000}});
  must(!refilled || (*refilled >= Duration{} && *refilled <= kLongestWait));
  for (const auto& quota : {token_quota_in(headers), token_quota_in(text)})
    must(!quota || quota->tokens >= 1);
  return 0;
}
