// The most input that a provider takes in a minute from all who ask with one key, as it names it where it
// turns a request down. A request that is larger is never taken. Pure; what cannot be meant is not there.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "net/network.h"

namespace deputy {

struct TokenQuota {
  std::int64_t tokens = 0;
  bool spares_cached = false;  // what is read from a cache does not count
  bool operator==(const TokenQuota&) const = default;
};

std::optional<TokenQuota> token_quota_in(const HttpHeaders& headers);
// In the message of Anthropic or OpenAI, in lower case.
std::optional<TokenQuota> token_quota_in(std::string_view words);
// Whether OpenAI says so of the request itself, the longest answer to it included.
bool is_larger_than_quota(std::string_view words);

// What a number is written as, with commas between its thousands or without.
std::optional<std::int64_t> quota_number(std::string_view text);

}  // namespace deputy
