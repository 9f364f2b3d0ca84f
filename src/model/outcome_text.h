// Test support: an outcome as a few lines that a test can write down. Long texts stand as their beginning,
// their length and their hash.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "base/text.h"
#include "model/dialect.h"

namespace deputy::api {

inline std::string fingerprint(std::string_view text) {
  std::string shown;
  for (const char c : utf8_prefix(text, text.size() <= 100 ? 100 : 40)) {
    if (c == '\n') {
      shown += "\\n";
    } else {
      shown += c;
    }
  }
  if (text.size() <= 100) return shown;
  return fmt::format("{}… {} bytes {}", shown, text.size(), sha256_hex(text).substr(0, 12));
}

inline std::string_view name_of(Failure::Kind kind) {
  switch (kind) {
    case Failure::Kind::transient:
      return "transient";
    case Failure::Kind::rate_limited:
      return "rate_limited";
    case Failure::Kind::context_exhausted:
      return "context_exhausted";
    case Failure::Kind::definite:
      return "definite";
  }
  return "?";
}

inline std::string outcome_text(const Failure& failure) {
  std::string text = fmt::format("{}: {}", name_of(failure.kind), failure.message);
  const Usage& usage = failure.usage;
  if (usage.input + usage.output > 0) text += fmt::format(" [used {}/{}]", usage.input, usage.output);
  if (failure.retry_after) text += fmt::format(" [after {}]", to_text(*failure.retry_after));
  if (failure.token_quota) {
    text += fmt::format(" [of {}{} tokens a minute]", failure.token_quota->tokens,
                        failure.token_quota->spares_cached ? " uncached" : "");
  }
  return text;
}

inline std::string outcome_text(const Reply& reply) {
  const Usage& usage = reply.usage;
  std::string text =
      fmt::format("{} {}/{}/{}/{}\ntext: {}", deputy::name_of(reply.stop), usage.input, usage.output,
                  usage.cache_read, usage.cache_write, fingerprint(reply.message.text));
  if (!reply.message.thinking.empty()) text += "\nthinking: " + fingerprint(reply.message.thinking);
  for (const Call& call : reply.message.calls) {
    text += fmt::format("\ncall {} {} {}", call.id, call.name, fingerprint(call.arguments));
  }
  if (!reply.error.empty()) text += "\nerror: " + fingerprint(reply.error);
  return text;
}

inline std::string outcome_text(const std::expected<Reply, Failure>& outcome) {
  return outcome ? outcome_text(*outcome) : outcome_text(outcome.error());
}

}  // namespace deputy::api
