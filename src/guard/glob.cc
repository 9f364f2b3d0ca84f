#include "guard/glob.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "guard/code_points.h"

namespace deputy {
namespace {

std::string shown(std::string_view pattern) { return made_visible(shorten(to_utf8(pattern), 120)); }

std::unexpected<Error> unfinished(std::string_view pattern, char opening, char closing) {
  return fail(ErrorCode::invalid,
              fmt::format("the pattern {} has a {} without {}", shown(pattern), opening, closing),
              fmt::format("close it, or write \\{} for the character itself", opening));
}

// Where a set that opens at `at` closes. A ']' right after the opening belongs to the set.
std::optional<std::size_t> end_of_set(std::string_view pattern, std::size_t at) {
  ++at;
  if (at < pattern.size() && (pattern[at] == '!' || pattern[at] == '^')) ++at;
  for (const std::size_t first = at; at < pattern.size(); ++at) {
    if (pattern[at] == '\\') {
      ++at;
    } else if (pattern[at] == ']' && at > first) {
      return at;
    }
  }
  return std::nullopt;
}

struct Braces {
  std::size_t begin = 0;
  std::size_t end = 0;  // of the closing one
  std::vector<std::string_view> choices;
};

// The first pair of braces on the outermost level; begin == npos where there is none.
Result<Braces> first_braces(std::string_view pattern) {
  Braces braces{.begin = std::string_view::npos};
  std::size_t depth = 0;
  std::size_t choice = 0;
  for (std::size_t at = 0; at < pattern.size(); ++at) {
    const char c = pattern[at];
    if (c == '\\') {
      ++at;
    } else if (c == '[') {
      const auto end = end_of_set(pattern, at);
      if (!end) return unfinished(pattern, '[', ']');
      at = *end;
    } else if (c == '{') {
      if (depth++ > 0) continue;
      braces.begin = at;
      choice = at + 1;
    } else if (depth == 1 && (c == ',' || c == '}')) {
      braces.choices.push_back(pattern.substr(choice, at - choice));
      choice = at + 1;
      braces.end = at;
      if (c == '}') return braces;
    } else if (depth > 1 && c == '}') {
      --depth;
    }
  }
  if (depth > 0) return unfinished(pattern, '{', '}');
  return braces;
}

std::unexpected<Error> too_many(std::string_view pattern) {
  return fail(ErrorCode::invalid,
              fmt::format("the braces of {} stand for more than {} patterns or {} bytes", shown(pattern),
                          Glob::kMaxAlternatives, Glob::kMaxWrittenOut),
              "write several patterns, or a wider one");
}

Result<std::vector<std::string>> without_braces(std::string_view pattern) {
  std::vector<std::string> open{std::string(pattern)};
  std::vector<std::string> done;
  std::size_t bytes = 0;
  while (!open.empty()) {
    const std::string next = std::move(open.back());
    open.pop_back();
    TRY(const Braces braces, first_braces(next));
    if (braces.begin == std::string_view::npos) {
      bytes += next.size();
      if (bytes > Glob::kMaxWrittenOut) return too_many(pattern);
      done.push_back(next);
      continue;
    }
    if (open.size() + done.size() + braces.choices.size() > Glob::kMaxAlternatives) return too_many(pattern);
    for (auto choice = braces.choices.rbegin(); choice != braces.choices.rend(); ++choice) {
      open.push_back(next.substr(0, braces.begin).append(*choice).append(next.substr(braces.end + 1)));
    }
  }
  return done;
}

std::string tidy(std::string pattern) {
  while (pattern.starts_with("./")) pattern.erase(0, 2);
  if (pattern.ends_with('/')) pattern += "**";
  return pattern;
}

}  // namespace

Result<Glob> Glob::compile(std::string_view pattern) {
  if (pattern.empty())
    return fail(ErrorCode::invalid, "the pattern is empty", "write one such as src/**/*.cc");
  if (pattern.size() > kMaxBytes) {
    return fail(ErrorCode::invalid,
                fmt::format("the pattern is {} bytes long, at most {} are taken", pattern.size(), kMaxBytes),
                "write a shorter one");
  }
  Glob glob;
  TRY(std::vector<std::string> alternatives, without_braces(pattern));
  for (std::string& alternative : alternatives) {
    alternative = tidy(std::move(alternative));
    TRY(Program program, glob.program_for(code_points(alternative)));
    glob.programs_.push_back(std::move(program));
  }
  glob.alternatives_ = std::move(alternatives);
  return glob;
}

Result<Glob::Program> Glob::program_for(std::u32string_view pattern) {
  using enum Step::Kind;
  Program program;
  for (std::size_t at = 0; at < pattern.size(); ++at) {
    const std::u32string_view rest = pattern.substr(at);
    if (rest == U"/**") {
      program.push_back({.kind = beneath_or_none});
      program.push_back({.kind = anything});
      break;
    }
    if (rest.starts_with(U"**")) {
      const bool begins_name = at == 0 || pattern[at - 1] == U'/';
      while (at + 1 < pattern.size() && pattern[at + 1] == U'*') ++at;
      if (begins_name && at + 1 < pattern.size() && pattern[at + 1] == U'/') {
        program.push_back({.kind = folders_or_none});
        program.push_back({.kind = folders});
        ++at;
      } else {
        program.push_back({.kind = anything});
      }
    } else if (rest.front() == U'*') {
      program.push_back({.kind = within_name});
    } else if (rest.front() == U'?') {
      program.push_back({.kind = one});
    } else if (rest.front() == U'[') {
      TRY(const std::size_t set, add_set(pattern, at));
      program.push_back({.kind = one_of, .set = set});
    } else {
      if (rest.front() == U'\\' && rest.size() > 1) ++at;
      program.push_back({.kind = literal, .character = pattern[at]});
    }
  }
  return program;
}

// Leaves `at` on the closing bracket, which is there: first_braces has looked.
Result<std::size_t> Glob::add_set(std::u32string_view pattern, std::size_t& at) {
  Set set;
  ++at;
  if (pattern[at] == U'!' || pattern[at] == U'^') {
    set.negated = true;
    ++at;
  }
  const auto character = [&] { return pattern[at] == U'\\' ? pattern[++at] : pattern[at]; };
  for (const std::size_t first = at; at == first || pattern[at] != U']'; ++at) {
    const char32_t low = character();
    char32_t high = low;
    if (pattern[at + 1] == U'-' && pattern[at + 2] != U']') {
      at += 2;
      high = character();
    }
    if (high < low) {
      return fail(ErrorCode::invalid, "a range in the pattern's brackets runs backwards",
                  "write [a-z], not [z-a]");
    }
    set.ranges.emplace_back(low, high);
  }
  sets_.push_back(std::move(set));
  return sets_.size() - 1;
}

bool Glob::Set::contains(char32_t character) const {
  const bool is_listed = std::ranges::any_of(ranges, [character](const auto& range) {
    return range.first <= character && character <= range.second;
  });
  return is_listed != negated;
}

GlobMatch Glob::match(std::string_view path) const {
  const std::u32string characters = code_points(path);
  GlobMatch best = GlobMatch::none;
  for (const Program& program : programs_) best = std::max(best, run(program, characters, From::the_start));
  return best;
}

bool Glob::may_match_end_of(std::string_view path) const {
  const std::u32string characters = code_points(path);
  return std::ranges::any_of(programs_, [&](const Program& program) {
    return run(program, characters, From::any_name) != GlobMatch::none;
  });
}

bool Glob::takes(const Step& step, char32_t character) const {
  using enum Step::Kind;
  switch (step.kind) {
    case literal:
      return step.character == character;
    case one:
    case within_name:
      return character != U'/';
    case one_of:
      return character != U'/' && sets_[step.set].contains(character);
    case anything:
    case folders:
      return true;
    case beneath_or_none:
      return character == U'/';
    case folders_or_none:
      return false;
  }
  return false;
}

// Follows all states at once. State i: everything before step i is matched; the last one accepts.
GlobMatch Glob::run(const Program& program, std::u32string_view path, From from) const {
  using enum Step::Kind;
  const std::size_t accepting = program.size();
  std::vector<char> states(accepting + 1);
  std::vector<char> next(accepting + 1);
  // What may match nothing lets its successor begin as well. All such moves go forward.
  const auto close = [&](std::vector<char>& set) {
    for (std::size_t i = 0; i < accepting; ++i) {
      if (set[i] == 0) continue;
      const Step::Kind kind = program[i].kind;
      if (kind == within_name || kind == anything || kind == folders_or_none) set[i + 1] = 1;
      if (kind == folders_or_none || kind == beneath_or_none) set[i + 2] = 1;
    }
  };
  bool is_above = false;
  states[0] = 1;
  close(states);
  for (const char32_t character : path) {
    is_above = is_above || (character == U'/' && states[accepting] != 0);
    std::ranges::fill(next, 0);
    for (std::size_t i = 0; i < accepting; ++i) {
      if (states[i] == 0 || !takes(program[i], character)) continue;
      const Step::Kind kind = program[i].kind;
      const bool stays = kind == within_name || kind == anything || kind == folders;
      next[stays ? i : i + 1] = 1;
      if (kind == folders && character == U'/') next[i + 1] = 1;
    }
    if (from == From::any_name && character == U'/') next[0] = 1;
    close(next);
    std::swap(states, next);
    if (from == From::the_start && std::ranges::find(states, 1) == states.end()) break;
  }
  if (states[accepting] != 0) return GlobMatch::whole;
  return is_above ? GlobMatch::above : GlobMatch::none;
}

}  // namespace deputy
