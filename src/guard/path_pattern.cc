#include "guard/path_pattern.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace deputy {
namespace {

Roots folded(const Roots& roots) { return {case_folded(roots.workspace), case_folded(roots.home)}; }

RuleMatch answer_of(GlobMatch match) {
  switch (match) {
    case GlobMatch::whole:
      return RuleMatch::yes;
    case GlobMatch::above:
      return RuleMatch::maybe;
    case GlobMatch::none:
      return RuleMatch::no;
  }
  return RuleMatch::maybe;
}

}  // namespace

PathSubject::PathSubject(std::string_view path, const Roots& roots)
    : plain(locate(path, roots)), folded(locate(case_folded(path), deputy::folded(roots))) {}

Result<PathPattern> PathPattern::compile(std::string_view text) {
  const auto parts = split(text, '/');
  if (std::ranges::find(parts, "..") != parts.end() || (text.starts_with('~') && !text.starts_with("~/"))) {
    return fail(
        ErrorCode::invalid,
        fmt::format("the pattern {} leads nobody knows where", made_visible(shorten(text, 120))),
        "write it relative to the workspace (src/**), absolute (/etc/**) or in your home (~/.ssh/**)");
  }
  PathPattern pattern;
  std::string_view rest = text;
  if (rest.starts_with("~/")) {
    pattern.from_ = From::home;
    rest.remove_prefix(2);
  } else if (rest.starts_with('/')) {
    pattern.from_ = From::root;
  }
  while (rest.starts_with('/')) rest.remove_prefix(1);
  if (rest.empty()) rest = "**";
  TRY(pattern.glob_, Glob::compile(rest));
  auto folded = Glob::compile(case_folded(rest));
  pattern.folded_ = folded ? *std::move(folded) : pattern.glob_;
  return pattern;
}

RuleMatch PathPattern::match(const PathSubject& subject) const {
  const RuleMatch plain = match(glob_, from_, subject.plain);
  if (plain != RuleMatch::no) return plain;
  return std::min(match(folded_, from_, subject.folded), RuleMatch::maybe);
}

RuleMatch PathPattern::match(const Glob& glob, From from, const LocatedPath& path) {
  const auto by_end = [&] { return glob.may_match_end_of(path.end) ? RuleMatch::maybe : RuleMatch::no; };
  switch (from) {
    case From::workspace:
      return path.in_workspace ? answer_of(glob.match(*path.in_workspace)) : by_end();
    case From::root:
      // Where the workspace lies is not known, so anything may lie anywhere.
      return path.absolute ? answer_of(glob.match(*path.absolute)) : RuleMatch::maybe;
    case From::home:
      if (path.in_home) return answer_of(glob.match(*path.in_home));
      return path.absolute ? by_end() : RuleMatch::maybe;
  }
  return RuleMatch::maybe;
}

}  // namespace deputy
