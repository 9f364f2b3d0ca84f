#include "guard/rule_pattern.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/text.h"

namespace deputy {
namespace {

constexpr auto kPathTools =
    std::to_array<std::string_view>({"Read", "Edit", "Write", "Grep", "Glob", "List", "NotebookEdit"});
constexpr std::string_view kDomain = "domain:";

bool is_host_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_';
}

std::string tidy_host(std::string_view host) {
  std::string out = lowered(host);
  if (out.ends_with('.')) out.pop_back();
  return out;
}

bool is_host(std::string_view host) {
  return !host.empty() && host.size() <= 253 && !host.starts_with('.') && !host.contains("..") &&
         std::ranges::all_of(host, is_host_character);
}

// An address has no subdomains: 4.example must not be "beneath" example, nor 1.2.3.4 beneath 3.4.
bool is_address(std::string_view host) {
  const std::string_view last = host.substr(host.rfind('.') + 1);  // npos + 1 is 0
  return std::ranges::all_of(last, [](char c) { return c >= '0' && c <= '9'; });
}

Result<std::string> host_of(std::string_view pattern) {
  std::string host =
      pattern.starts_with(kDomain) ? tidy_host(trimmed(pattern.substr(kDomain.size()))) : std::string();
  if (is_host(host)) return host;
  return fail(ErrorCode::invalid,
              fmt::format("\"{}\" does not name a domain", made_visible(shorten(pattern, 120))),
              "write WebFetch(domain:example.org); its subdomains are meant too");
}

Result<Glob> path_glob(std::string_view pattern) {
  const auto parts = split(pattern, '/');
  const bool climbs = std::ranges::find(parts, "..") != parts.end();
  if (pattern.starts_with('/') || pattern.starts_with('~') || climbs) {
    return fail(
        ErrorCode::invalid,
        fmt::format("the pattern {} leads outside the workspace", made_visible(shorten(pattern, 120))),
        "patterns are relative to the workspace: src/**, **/.env");
  }
  return Glob::compile(pattern);
}

// A path made clean as text. Where it is absolute or climbs, only its end is known to lie in the workspace,
// if that.
struct CleanPath {
  std::string text;
  bool is_relative = true;
};

CleanPath clean(std::string_view path) {
  CleanPath result{.is_relative = !path.starts_with('/')};
  std::vector<std::string_view> parts;
  for (const std::string_view part : split(path, '/')) {
    if (part.empty() || part == ".") continue;
    if (part != "..") {
      parts.push_back(part);
    } else if (parts.empty()) {
      result.is_relative = false;
    } else {
      parts.pop_back();
    }
  }
  for (const std::string_view part : parts) {
    if (!result.text.empty()) result.text += '/';
    result.text += part;
  }
  return result;
}

}  // namespace

Result<RulePattern> RulePattern::compile(std::string_view tool, std::string_view text) {
  if (text.empty()) return RulePattern(Kind::everything);
  const bool negated = text.starts_with('!');
  if (negated) text.remove_prefix(1);
  if (text.empty()) {
    return fail(ErrorCode::invalid, "nothing follows the \"!\"", fmt::format("write {}(!pattern)", tool));
  }
  RulePattern pattern(Kind::uncertain);
  if (std::ranges::find(kPathTools, tool) != kPathTools.end()) {
    pattern.kind_ = Kind::path;
    TRY(pattern.glob_, path_glob(text));
  } else if (tool == "WebFetch") {
    pattern.kind_ = Kind::host;
    TRY(pattern.host_, host_of(text));
  } else if (tool != "Bash") {
    return fail(ErrorCode::invalid, fmt::format("{} takes no pattern", tool),
                fmt::format("write {} alone", tool));
  } else if (text.size() > kMaxCommandBytes) {
    return fail(ErrorCode::invalid, fmt::format("the pattern is {} bytes long, at most {} are taken",
                                                text.size(), kMaxCommandBytes));
  }
  pattern.negated_ = negated;
  return pattern;
}

RuleMatch RulePattern::match(std::string_view subject) const {
  const RuleMatch positive = match_positive(subject);
  if (!negated_ || positive == RuleMatch::maybe) return positive;
  return positive == RuleMatch::yes ? RuleMatch::no : RuleMatch::yes;
}

RuleMatch RulePattern::match_positive(std::string_view subject) const {
  if (kind_ == Kind::everything) return RuleMatch::yes;
  if (kind_ == Kind::uncertain || subject.size() > kMaxSubjectBytes) return RuleMatch::maybe;
  return kind_ == Kind::path ? match_path(subject) : match_host(subject);
}

RuleMatch RulePattern::match_path(std::string_view subject) const {
  const CleanPath path = clean(subject);
  if (!path.is_relative) return glob_.may_match_end_of(path.text) ? RuleMatch::maybe : RuleMatch::no;
  switch (glob_.match(path.text)) {
    case GlobMatch::whole:
      return RuleMatch::yes;
    case GlobMatch::above:
      return RuleMatch::maybe;
    case GlobMatch::none:
      return RuleMatch::no;
  }
  return RuleMatch::maybe;
}

RuleMatch RulePattern::match_host(std::string_view subject) const {
  const std::string host = tidy_host(subject);
  if (!is_host(host)) return RuleMatch::maybe;
  if (host == host_) return RuleMatch::yes;
  const bool is_beneath = host.ends_with("." + host_) && !is_address(host_) && !is_address(host);
  return is_beneath ? RuleMatch::yes : RuleMatch::no;
}

}  // namespace deputy
