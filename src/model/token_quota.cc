#include "model/token_quota.h"

#include <charconv>
#include <string>

namespace deputy {

namespace {

constexpr std::string_view kDigits = "0123456789,";
constexpr std::string_view kOpenAiLimit = "tokens per min (tpm): limit ";
constexpr std::string_view kAnthropicLimit = " input tokens per minute";

std::optional<std::int64_t> number_behind(std::string_view words, std::string_view before) {
  const std::size_t at = words.find(before);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view rest = words.substr(at + before.size());
  return quota_number(rest.substr(0, rest.find_first_not_of(kDigits)));
}

std::optional<std::int64_t> number_before(std::string_view words, std::string_view behind) {
  const std::string_view rest = words.substr(0, words.find(behind));
  if (rest.size() == words.size()) return std::nullopt;
  return quota_number(rest.substr(rest.find_last_not_of(kDigits) + 1));
}

}  // namespace

std::optional<std::int64_t> quota_number(std::string_view text) {
  std::string digits(text.substr(0, 40));
  std::erase(digits, ',');
  std::int64_t number = 0;
  const char* end = digits.data() + digits.size();
  const auto read = std::from_chars(digits.data(), end, number);
  if (read.ec != std::errc{} || read.ptr != end || number < 1) return std::nullopt;
  return number;
}

std::optional<TokenQuota> token_quota_in(const HttpHeaders& headers) {
  for (const std::string_view name : {"anthropic-ratelimit-input-tokens-limit",
                                      "anthropic-ratelimit-tokens-limit", "x-ratelimit-limit-tokens"}) {
    if (const auto most = quota_number(find_header(headers, name).value_or("")))
      return TokenQuota{*most, name.starts_with("anthropic")};
  }
  return std::nullopt;
}

std::optional<TokenQuota> token_quota_in(std::string_view words) {
  if (const auto limit = number_behind(words, kOpenAiLimit)) return TokenQuota{*limit};
  if (const auto limit = number_before(words, kAnthropicLimit)) return TokenQuota{*limit, true};
  return std::nullopt;
}

bool is_larger_than_quota(std::string_view words) {
  const auto limit = number_behind(words, kOpenAiLimit);
  const auto requested = number_behind(words, "requested ");
  return limit && requested && *requested > *limit;
}

}  // namespace deputy
