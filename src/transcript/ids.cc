#include "transcript/ids.h"

#include <fmt/format.h>

#include <algorithm>

#include "transcript/mail.h"

namespace deputy {

namespace {

constexpr std::string_view kSessionAlphabet = "abcdefghijklmnopqrstuvwxyz0123456789";
constexpr std::string_view kSessionPrefix = "sess_";
constexpr std::size_t kSessionSuffix = 6;

}  // namespace

SessionId new_session_id(const Clock& clock, Random& random) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(clock.wall()).time_since_epoch().count();
  return SessionId(
      fmt::format("{}{}_{}", kSessionPrefix, seconds, random_text(random, kSessionSuffix, kSessionAlphabet)));
}

bool is_session_id(std::string_view text) {
  if (!text.starts_with(kSessionPrefix)) return false;
  text.remove_prefix(kSessionPrefix.size());
  const auto bar = text.find('_');
  if (bar == std::string_view::npos || bar == 0) return false;
  const auto seconds = text.substr(0, bar);
  const auto suffix = text.substr(bar + 1);
  return suffix.size() == kSessionSuffix &&
         std::ranges::all_of(seconds, [](char c) { return c >= '0' && c <= '9'; }) &&
         std::ranges::all_of(suffix, [](char c) { return kSessionAlphabet.contains(c); });
}

std::string to_text(const CallId& id) {
  return fmt::format("{}/{}/{}/{}", id.run.session.value, id.run.number, id.step, id.index);
}

std::string nudge_item(const std::string& nudge_id) { return "nudge/" + nudge_id; }

std::string report_item(const SessionId& child, int run) {
  return "report/" + child.value + "/" + std::to_string(run);
}

std::string question_item(const std::string& question_id) { return "question/" + question_id; }

}  // namespace deputy
