#include "model/gemini_errors.h"

#include <algorithm>

#include "base/json.h"
#include "base/text.h"
#include "model/api_errors.h"
#include "model/retry_after.h"

namespace deputy::gemini {

namespace {

struct Details {
  std::string message;
  std::optional<Duration> wait;
  std::optional<TokenQuota> quota;
  bool is_for_today = false;  // no waiting helps before the day is over, or ever
  bool is_bad_key = false;
};

// "Please retry in 48.939935699s."
std::optional<Duration> wait_in(std::string_view message) {
  constexpr std::string_view kBefore = "retry in ";
  const std::size_t at = message.find(kBefore);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view word = message.substr(at + kBefore.size());
  word = word.substr(0, word.find_first_of(" ,;\n"));
  while (word.ends_with('.')) word.remove_suffix(1);
  return parse_wait(word);
}

bool is_used_up(const json::object& violation) {
  return string_or(violation, "quotaId", "").contains("PerDay") ||
         string_or(violation, "quotaValue", "") == "0";
}

// Of input in a minute; of several the smallest.
void read_quota(const json::object& violation, std::optional<TokenQuota>& quota) {
  if (!string_or(violation, "quotaId", "").contains("InputTokens")) return;
  const auto tokens = quota_number(string_or(violation, "quotaValue", ""));
  if (tokens && (!quota || *tokens < quota->tokens)) quota = TokenQuota{*tokens};
}

void read_detail(const json::object& detail, Details& details) {
  if (string_or(detail, "reason", "") == "API_KEY_INVALID") details.is_bad_key = true;
  if (const auto wait = parse_wait(string_or(detail, "retryDelay", ""))) {
    details.wait = std::max(details.wait.value_or(Duration{}), *wait);
  }
  if (const auto* violations = array_at(detail, "violations")) {
    for (const json::value& violation : *violations) {
      if (!violation.is_object()) continue;
      if (is_used_up(violation.get_object())) details.is_for_today = true;
      read_quota(violation.get_object(), details.quota);
    }
  }
}

Details details_of(std::string_view body) {
  Details details;
  auto parsed = parse_json(to_utf8(body));
  if (parsed && parsed->is_array() && !parsed->get_array().empty()) {
    parsed = json::value(parsed->get_array().front());
  }
  const auto* error = parsed && parsed->is_object() ? object_at(parsed->get_object(), "error") : nullptr;
  if (error == nullptr) return details;
  details.message = string_or(*error, "message", "");
  details.wait = wait_in(details.message);
  if (const auto* list = array_at(*error, "details")) {
    for (const json::value& detail : *list) {
      if (detail.is_object()) read_detail(detail.get_object(), details);
    }
  }
  return details;
}

Failure refined(Failure failure, const Details& details) {
  if (details.is_bad_key) {
    failure.kind = Failure::Kind::definite;
    failure.is_malformed = false;
    failure.message += "; check the key";
  }
  if (details.message.contains("payload size exceeds")) {
    failure.kind = Failure::Kind::context_exhausted;
    failure.is_malformed = false;
  }
  if (failure.kind == Failure::Kind::rate_limited && details.is_for_today) {
    failure.kind = Failure::Kind::definite;
    failure.message += "; there is no quota left for this model today: choose another";
  }
  if (failure.kind == Failure::Kind::definite || failure.kind == Failure::Kind::context_exhausted) {
    failure.retry_after.reset();
  } else if (details.wait) {
    failure.retry_after = std::max(failure.retry_after.value_or(Duration{}), *details.wait);
  }
  if (failure.kind == Failure::Kind::rate_limited && details.quota) failure.token_quota = details.quota;
  return failure;
}

}  // namespace

Failure http_failure(const HttpResponse& response, std::string_view body, WallTime now) {
  return refined(api::http_failure(response, body, now), details_of(body));
}

Failure stream_failure(std::string_view event) {
  return refined(api::stream_failure(event), details_of(event));
}

}  // namespace deputy::gemini
