#include "delegation/opencode_names.h"

#include <algorithm>

#include "base/text.h"
#include "guard/tool_names.h"

namespace deputy::opencode {

bool fits(std::string_view pattern, std::string_view name) {
  std::vector<bool> reached(name.size() + 1);  // how far into the name the pattern so far can lead
  reached[0] = true;
  for (const char c : pattern) {
    if (c == '*') {
      for (std::size_t i = 0; i < name.size(); ++i) reached[i + 1] = reached[i + 1] || reached[i];
    } else {
      for (std::size_t i = name.size(); i > 0; --i)
        reached[i] = reached[i - 1] && (c == '?' || c == name[i - 1]);
      reached[0] = false;
    }
  }
  return reached.back();
}

bool is_their_word(std::string_view key) {
  return std::ranges::any_of(kTheirWords, [&](const auto& each) { return fits(key, each.second); });
}

std::vector<std::string> tools_named(std::string_view key) {
  const std::string wanted = lowered(trimmed(key));
  const std::string named = canonical_tool_name(key);
  std::vector<std::string> meant;
  const auto add = [&meant](std::string_view tool) {
    if (std::ranges::find(meant, tool) == meant.end()) meant.emplace_back(tool);
  };
  for (const auto& [tool, their_word] : kTheirWords) {
    if (tool != named && !fits(wanted, lowered(tool)) && !fits(wanted, their_word)) continue;
    add(tool);
    for (const auto* change : {"Edit", "Write", "NotebookEdit"}) {
      if (their_word == "edit") add(change);
    }
  }
  if (meant.empty() && is_tool_name(named)) add(named);
  return meant;
}

bool can_be_of_a_server(std::string_view key) {
  return key.contains('_') && (is_pattern(key) || nearest(key, tool_names(), 1).empty());
}

}  // namespace deputy::opencode
