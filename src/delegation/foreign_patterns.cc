#include "delegation/foreign_patterns.h"

#include <fmt/format.h>

#include "base/text.h"
#include "guard/rule_pattern.h"

namespace deputy {
namespace {

bool is_of(std::string_view characters, char c) { return characters.contains(c); }

// At the beginning these have a meaning in our rules: all but, and the person's home.
std::string literal_at_front(std::string path) {
  return !path.empty() && is_of("!~", path.front()) ? "\\" + path : path;
}

// `*` means more than ours within a path, `**/` more than theirs: so an allow has the one, all else the
// other.
std::string opencode_characters(std::string_view theirs, bool permits) {
  std::string ours;
  for (const char c : theirs) {
    if (c == '*') {
      if (!ours.ends_with('*')) ours += permits ? "*" : "**";
    } else if (is_of("?\\", c) && !permits) {
      ours += "{?,/}";  // a backslash is read as a slash there
    } else {
      if (is_of("[]{}\\", c)) ours += '\\';
      ours += c;
    }
  }
  return ours;
}

std::string opencode_path(std::string_view theirs, bool permits) {
  for (const std::string_view home : {"~/", "$HOME/"}) {
    if (theirs.starts_with(home)) return "~/" + opencode_characters(theirs.substr(home.size()), permits);
  }
  if (theirs == "~" || theirs.starts_with("$HOME")) return {};
  // Here a folder's name means all beneath it.
  const bool is_read_wider = theirs.ends_with('/') || theirs.starts_with("./") || theirs.starts_with("//");
  if (permits && is_read_wider) return {};
  // What may begin with anything may begin above the project.
  if (!permits && is_of("*?\\", theirs.front()))
    return "/**" + opencode_characters(theirs.substr(1), permits);
  return literal_at_front(opencode_characters(theirs, permits));
}

std::string opencode_command(std::string_view theirs, bool permits) {
  std::string_view words = theirs;
  while (words.ends_with('*')) words.remove_suffix(1);
  if (words.find_first_of("*?") != std::string_view::npos || words.starts_with('!')) return {};
  if (words.size() == theirs.size()) return std::string(theirs);
  if (permits || words.ends_with(' ')) return fmt::format("{}:*", trimmed(words));
  while (words.ends_with(':') || words.ends_with(' ')) words.remove_suffix(1);  // "test:" begins with "test"
  return words.empty() ? "" : fmt::format("{}*", words);
}

std::string claude_path(std::string_view theirs) {
  if (theirs == "*" || theirs == "**" || theirs.starts_with('!')) return std::string(theirs);
  std::string path;
  for (std::size_t at = 0; at < theirs.size(); ++at) {
    if (is_of("{}", theirs[at])) path += '\\';
    path += theirs[at];
    if (theirs[at] == '\\' && at + 1 < theirs.size()) path += theirs[++at];
  }
  if (path.starts_with("//")) return path.substr(1);
  if (path.starts_with('/') && path.size() > 1) return literal_at_front(path.substr(1));
  const bool is_name = path.find('/') + 1 == path.size() || !path.contains('/');
  return is_name ? "**/" + path : path;
}

}  // namespace

std::string opencode_pattern(std::string_view tool, std::string_view theirs, Decision decision) {
  const bool permits = decision == Decision::allow;
  if (tool == "Bash") return opencode_command(theirs, permits);
  const bool is_about_paths = tool == "Read" || tool == "List" || is_writing_tool(tool);
  return is_about_paths && !theirs.empty() ? opencode_path(theirs, permits) : "";
}

std::string claude_pattern(std::string_view tool, std::string_view theirs, Decision decision) {
  if (is_path_tool(tool)) return claude_path(theirs);
  const bool allows_part_of_word =
      tool == "Bash" && decision == Decision::allow && CommandPattern::ends_within_word(theirs);
  return allows_part_of_word ? fmt::format("{}:*", theirs.substr(0, theirs.size() - 1)) : std::string(theirs);
}

}  // namespace deputy
