#include "model/api_errors.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "base/json.h"
#include "base/redaction.h"
#include "base/text.h"
#include "model/rate_limit_headers.h"
#include "model/reply_draft.h"
#include "model/retry_after.h"
#include "model/token_quota.h"
#include "net/sse.h"

namespace deputy::api {

namespace {

using Kind = Failure::Kind;

constexpr std::size_t kMostCharacters = 300;
constexpr std::size_t kMostReadBytes = 64 * 1024;  // of the words that are looked for in a message

struct ApiError {
  int status = 0;       // of the answer, or as the error itself says, or 0
  std::string message;  // as the provider wrote it
  std::string type;
  std::string code;
  std::optional<std::int64_t> reset_ms;  // since 1970
};

bool contains_any(std::string_view text, std::span<const std::string_view> needles) {
  return std::ranges::any_of(needles, [&](std::string_view needle) { return text.contains(needle); });
}

// In lower case. The spellings of Anthropic (behind OpenRouter), OpenAI, vLLM, SGLang, llama.cpp, Ollama,
// LM Studio, DeepSeek, Cohere, Bedrock.
constexpr std::array<std::string_view, 24> kContextWords{"prompt is too long",
                                                         "prompt too long",
                                                         "exceed context limit",
                                                         "maximum context length",
                                                         "max context",
                                                         "maximum model length",
                                                         "exceeds the context window",
                                                         "exceeds the context length",
                                                         "exceeds the available context",
                                                         "exceeds the model's context",
                                                         "exceeds context",
                                                         "exceeds maximum length",
                                                         "exceeds the maximum number of tokens",
                                                         "longer than the model's context length",
                                                         "longer than the context length",
                                                         "context size has been exceeded",
                                                         "context length exceeded",
                                                         "context_length_exceeded",
                                                         "too many tokens",
                                                         "too_many_tokens",
                                                         "input tokens exceeded",
                                                         "trying to keep the first",
                                                         "context overflow",
                                                         "reached context length"};

bool is_context_exhausted(const ApiError& error, std::string_view words) {
  if (error.code == "context_length_exceeded" || error.type == "exceed_context_size_error") return true;
  if (error.status == 413 || is_larger_than_quota(words)) return true;
  // 500: Ollama's runner says so too late to choose another status.
  const bool may_be = error.status == 0 || error.status == 400 || error.status == 422 || error.status == 500;
  return may_be && contains_any(words, kContextWords);
}

bool is_out_of_credit(const ApiError& error) {
  return error.status == 402 || error.type == "insufficient_quota" || error.code == "insufficient_quota" ||
         error.code == "billing_hard_limit_reached" || error.code == "billing_not_active";
}

// What looks as if waiting would help, and does not.
bool is_hopeless(const ApiError& error, std::string_view words) {
  static constexpr std::array<std::string_view, 4> kWords{"request too large", "per-day", "requires --jinja",
                                                          "requires more system memory"};
  return is_out_of_credit(error) || error.status == 501 || contains_any(words, kWords);
}

bool is_rate_limit(const ApiError& error, std::string_view words) {
  static constexpr std::array<std::string_view, 3> kWords{"rate limit", "rate-limit", "too many requests"};
  if (error.status == 429 || error.code == "rate_limit_exceeded" || error.code == "RateLimitReached" ||
      error.type == "rate_limit_error") {
    return true;
  }
  return (error.status == 0 || error.status == 503) && contains_any(words, kWords);
}

bool is_overload(const ApiError& error, std::string_view words) {
  if (is_rate_limit(error, words)) return false;
  if (error.status == 529 || error.type == "overloaded_error") return true;
  return (error.status == 0 || error.status == 503) && words.contains("overloaded");
}

bool is_bad_call(const ApiError& error) { return error.code == "tool_use_failed"; }

// Where no status says so. The codes are those of a response.failed, which names no type.
bool is_named_definite(const ApiError& error) {
  static constexpr std::array<std::string_view, 4> kTypes{"invalid_request_error", "BadRequestError",
                                                          "authentication_error", "not_found_error"};
  static constexpr std::array<std::string_view, 5> kCodes{"invalid_", "unsupported_", "image_",
                                                          "model_not_found", "empty_image_file"};
  return std::ranges::find(kTypes, error.type) != kTypes.end() ||
         std::ranges::any_of(kCodes, [&](std::string_view code) { return error.code.starts_with(code); });
}

// As they are looked through.
std::string words_of(const ApiError& error) {
  return lowered(std::string_view(error.message).substr(0, kMostReadBytes));
}

Kind kind_of(const ApiError& error) {
  const std::string words = words_of(error);
  if (is_context_exhausted(error, words)) return Kind::context_exhausted;
  if (is_hopeless(error, words)) return Kind::definite;
  if (is_rate_limit(error, words) || is_overload(error, words)) return Kind::rate_limited;
  // The model wrote a call that its own server refused: it may write a better one.
  if (is_bad_call(error)) return Kind::transient;
  if (error.status == 0) return is_named_definite(error) ? Kind::definite : Kind::transient;
  const bool may_pass =
      error.status == 408 || error.status == 409 || error.status == 425 || error.status >= 500;
  return may_pass ? Kind::transient : Kind::definite;
}

std::string text_or_json(const json::value& value) {
  if (const auto* text = value.if_string()) return std::string(*text);
  return value.is_null() ? "" : to_json_text(value);
}

std::string member_text(const json::object& object, std::string_view key) {
  const json::value* value = find(object, key);
  return value == nullptr ? "" : text_or_json(*value);
}

int status_in(const json::object& error) {
  for (const std::string_view key : {"status_code", "code"}) {
    const std::int64_t number = integer_or(error, key, 0);
    if (number >= 300 && number < 600) return static_cast<int>(number);
  }
  return 0;
}

// OpenRouter passes on what the provider behind it said.
void read_metadata(const json::object& metadata, ApiError& error) {
  if (const std::string raw = member_text(metadata, "raw"); !raw.empty()) error.message += ": " + raw;
  if (const auto* headers = object_at(metadata, "headers")) {
    const std::string reset = member_text(*headers, "X-RateLimit-Reset");
    std::int64_t at = 0;
    if (std::from_chars(reset.data(), reset.data() + reset.size(), at).ec == std::errc{}) error.reset_ms = at;
  }
}

ApiError read_object(const json::object& object) {
  ApiError error;
  if (const auto* inner = object_at(object, "error")) {
    error = read_object(*inner);
    return error;
  }
  for (const std::string_view key : {"error", "message", "detail"}) {
    if (error.message.empty()) error.message = member_text(object, key);
  }
  error.type = member_text(object, "type");
  if (error.type.empty()) error.type = member_text(object, "error_type");
  error.code = member_text(object, "code");
  error.status = status_in(object);
  if (error.message.empty()) error.message = to_json_text(object);
  if (const auto* metadata = object_at(object, "metadata")) read_metadata(*metadata, error);
  return error;
}

std::string read_page(std::string_view text) {
  const std::string words = lowered(text);
  const std::size_t title = words.find("<title>");
  if (title == std::string::npos) return "a web page";
  const std::string_view rest = text.substr(title + 7);
  return fmt::format("a web page, \"{}\"", on_one_line(rest.substr(0, rest.find('<'))));
}

ApiError read_error(std::string_view body) {
  auto value = parse_json(to_utf8(body));
  if (value && value->is_array() && !value->get_array().empty()) {
    value = json::value(value->get_array().front());
  }
  if (value && value->is_object()) return read_object(value->get_object());
  ApiError error;
  const std::string_view text = trimmed(body);
  error.message = text.starts_with('<') ? read_page(text) : to_utf8(text.substr(0, kMostReadBytes));
  return error;
}

bool is_part_of_word(char c) { return c != ' ' && c != ',' && c != '"' && c != '\'' && c != '`'; }

// OpenAI quotes the key that it refuses, all of it or with stars in its middle.
std::string without_keys(std::string_view text) {
  constexpr std::string_view kBefore = "key provided: ";
  std::string kept = Redactor().redact(text);
  for (std::size_t at = 0; at < kept.size();) {
    const auto from = kept.begin() + static_cast<std::ptrdiff_t>(at);
    const auto end = std::find_if_not(from, kept.end(), is_part_of_word);
    const std::string_view word(from, end);
    const bool is_key = word.contains("**") || std::string_view(kept).substr(0, at).ends_with(kBefore);
    if (is_key && !word.empty()) {
      const bool ends_sentence = word.ends_with('.');
      kept.replace(from, end, ends_sentence ? "[redacted]." : "[redacted]");
      at += ends_sentence ? 11 : 10;
    } else {
      at += word.size();
    }
    ++at;
  }
  return kept;
}

std::string_view advice_for(const ApiError& error) {
  if (is_out_of_credit(error)) return "; check the account's credit";
  if (error.status == 401 || error.status == 403) return "; check the key";
  if (error.status == 404) return "; check the model's name and the base address";
  if (error.status >= 300 && error.status < 400) return "; check the base address";
  return "";
}

std::string message_for(const ApiError& error) {
  // Long before it is cut, so that no half of a key is left at its end.
  const std::string clean = without_keys(on_one_line(utf8_prefix(to_utf8(error.message), kMostReadBytes)));
  const std::string said = clean.empty() ? "no reason given" : shorten(clean, kMostCharacters);
  if (error.status == 0) return fmt::format("the provider broke off: {}{}", said, advice_for(error));
  return fmt::format("the provider answered {}: {}{}", error.status, said, advice_for(error));
}

std::optional<Duration> wait_in_message(std::string_view message) {
  for (const std::string_view before : {"try again in ", "retry after "}) {
    const std::size_t at = message.find(before);
    if (at == std::string_view::npos) continue;
    std::string_view word = message.substr(at + before.size());
    word = word.substr(0, word.find_first_of(" ,;\n"));
    while (word.ends_with('.')) word.remove_suffix(1);
    if (const auto wait = parse_wait(word)) return wait;
  }
  return std::nullopt;
}

std::optional<Duration> wait_until(std::optional<std::int64_t> reset_ms, WallTime now) {
  constexpr std::int64_t kLatest = 10'000'000'000'000;  // the year 2286
  if (!reset_ms || *reset_ms < 0 || *reset_ms > kLatest) return std::nullopt;
  const Duration wait = WallTime{std::chrono::milliseconds{*reset_ms}} - now;
  return std::clamp<Duration>(wait, Duration{}, kLongestWait);
}

Failure failure_of(const ApiError& error) {
  Failure failure{.kind = kind_of(error), .message = message_for(error)};
  failure.is_malformed = failure.kind == Kind::definite && (error.status == 400 || error.status == 422) &&
                         !is_hopeless(error, words_of(error));
  failure.is_unknown = error.status == 404 || error.code == "model_not_found";
  if (is_bad_call(error)) failure.most_attempts = 2;
  if (failure.kind != Kind::definite && failure.kind != Kind::context_exhausted) {
    failure.retry_after = wait_in_message(error.message);
  }
  if (failure.kind == Kind::rate_limited) {
    failure.token_quota = token_quota_in(words_of(error));
    failure.is_overload = is_overload(error, words_of(error));
  }
  return failure;
}

}  // namespace

Failure http_failure(const HttpResponse& response, std::string_view body, WallTime now) {
  ApiError error = read_error(body);
  if (response.status != 200) error.status = response.status;  // else it is the error that may name one
  Failure failure = failure_of(error);
  const auto should_retry = find_header(response.headers, "x-should-retry");
  const bool is_open = failure.kind != Kind::context_exhausted && !is_out_of_credit(error);
  if (should_retry == "true" && failure.kind == Kind::definite && is_open) {
    failure.kind = Kind::transient;
    failure.is_malformed = false;
  }
  if (should_retry == "false" && is_open) failure.kind = Kind::definite;
  if (failure.kind == Kind::definite || failure.kind == Kind::context_exhausted) {
    failure.retry_after.reset();
    failure.token_quota.reset();
    return failure;
  }
  if (response.status == 429 && !failure.token_quota) failure.token_quota = token_quota_in(response.headers);
  if (const auto asked = retry_after(response.headers, now)) failure.retry_after = asked;
  if (!failure.retry_after && failure.kind == Kind::rate_limited) {
    failure.retry_after = time_until_refilled(response.headers, now);
    if (!failure.retry_after) failure.retry_after = wait_until(error.reset_ms, now);
  }
  return failure;
}

Failure stream_failure(std::string_view error) { return failure_of(read_error(error)); }

Failure cut_short() {
  return {.kind = Kind::transient, .message = "the provider's answer ended before it was complete"};
}

Failure too_large() {
  return {
      .kind = Kind::definite,
      .message = fmt::format("the provider's answer is too large: at most {} MiB of text, {} calls and {} "
                             "MiB in one event are taken",
                             kMostBytes >> 20, kMostCalls, kMaxSseEventBytes >> 20)};
}

Failure unreadable() {
  return {.kind = Kind::transient, .message = "the provider sent an event that cannot be read"};
}

}  // namespace deputy::api
