#include "guard/script_texts.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/text.h"

namespace deputy {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Takes 12, $ or /…/ from the front.
bool take_address(std::string_view& script) {
  if (script.starts_with('$')) {
    script.remove_prefix(1);
    return true;
  }
  if (script.starts_with('/')) {
    const std::size_t end = script.find('/', 1);
    if (end == std::string_view::npos || script.substr(0, end).contains('\\')) return false;
    script.remove_prefix(end + 1);
    return true;
  }
  const std::size_t digits = std::min(script.find_first_not_of("0123456789"), script.size());
  script.remove_prefix(digits);
  return digits > 0;
}

bool is_substitution(std::string_view script) {
  if (script.size() < 4 || script[0] != 's' || script.contains('\\') || script.contains('\n')) return false;
  const char mark = script[1];
  const std::size_t middle = script.find(mark, 2);
  const std::size_t end = middle == std::string_view::npos ? middle : script.find(mark, middle + 1);
  if (end == std::string_view::npos || mark == '[') return false;
  return std::ranges::all_of(script.substr(end + 1),
                             [](char c) { return is_digit(c) || std::string_view("gpiI").contains(c); });
}

bool is_tame_sed_script(std::string_view script) {
  if (take_address(script) && script.starts_with(',')) {
    script.remove_prefix(1);
    if (!take_address(script)) return false;
  }
  if (script == "p" || script == "d" || script == "q" || script == "=") return true;
  return is_substitution(script);
}

}  // namespace

bool is_tame_sed(std::span<const ShellWord> words) {
  constexpr auto kOptions =
      std::to_array<std::string_view>({"-n", "-E", "-r", "-s", "-u", "-z", "-nE", "-nr"});
  std::size_t at = 1;
  while (at < words.size() && std::ranges::find(kOptions, words[at].text) != kOptions.end()) ++at;
  if (at == words.size()) return false;
  if (words[at].varies || !is_tame_sed_script(words[at].text))
    return words.size() == 2 && words[1].text == "--version";
  // Options are taken wherever they stand.
  return std::ranges::none_of(words.subspan(at + 1), [](const ShellWord& word) {
    return word.text.starts_with('-') ||
           (word.varies && !word.text.starts_with('~') && word.text.find_first_of("*?[") == 0);
  });
}

bool is_tame_awk(std::span<const ShellWord> words) {
  std::size_t at = 1;
  if (at < words.size() && words[at].text.starts_with("-F")) at += words[at].text == "-F" ? 2 : 1;
  if (at >= words.size() || words[at].varies || words[at].text.starts_with('-')) return false;
  const std::string_view program = words[at].text;
  if (program.find_first_of("|>@<") != std::string_view::npos) return false;
  if (program.contains("system") || program.contains("getline")) return false;
  return std::ranges::none_of(words.subspan(at + 1), [](const ShellWord& word) {
    return word.text.starts_with('-') || (word.varies && word.text.find_first_of("*?[") == 0);
  });
}

}  // namespace deputy
