#include "guard/varying_names.h"

#include <algorithm>

#include "base/text.h"
#include "guard/glob.h"

namespace deputy {
namespace {

// The pattern of a shell, or one that means more: any character in the place of a set.
std::string without_sets(std::string_view pattern) {
  std::string out;
  for (std::size_t at = 0; at < pattern.size(); ++at) {
    const char c = pattern[at];
    if (c == '[') {
      const std::size_t end = pattern.find(']', at + 2);
      if (end == std::string_view::npos || pattern.substr(at, end - at).contains("[:")) return out + '*';
      at = end;
    }
    out += std::string_view("[{}\\").contains(c) ? '?' : c;
  }
  return out;
}

}  // namespace

bool may_make(std::string_view pattern, std::string_view name) {
  const auto glob = Glob::compile(without_sets(pattern));
  return !glob || glob->matches(name);
}

bool may_stand_for(const ShellWord& word, std::string_view name) {
  if (!word.varies || word.text.contains('~')) return false;
  return word.text.find_first_of(kPatternSigns) == std::string::npos || may_make(word.text, name);
}

void FileNames::add_pattern(std::string_view pattern) {
  patterns_.insert(lowered(pattern));
  if (patterns_.size() > kMostPatterns) patterns_ = {"*"};
}

bool FileNames::may_hold(std::string_view name) const {
  return names_.contains(name) || std::ranges::any_of(patterns_, [&](const std::string& pattern) {
           return may_make(pattern, lowered(name));
         });
}

bool FileNames::may_hold_or_keep(std::string_view name) const {
  for (std::size_t at = 1; at < name.size(); ++at) {
    const bool is_ending = name.ends_with('~') || names_.contains(name.substr(at));
    if (is_ending && may_hold(name.substr(0, at))) return true;
  }
  return may_hold(name);
}

bool FileNames::may_hold_ending(std::string_view ending) const {
  const auto ends_so = [&](const std::string& name) { return name.ends_with(ending); };
  const auto may_end_so = [&](const std::string& pattern) {
    const auto tail = std::string_view(pattern).substr(pattern.find_last_of("*?[]") + 1);  // npos + 1 is 0
    return ending.ends_with(tail) || tail.ends_with(ending);
  };
  return std::ranges::any_of(names_, ends_so) || std::ranges::any_of(patterns_, may_end_so);
}

}  // namespace deputy
