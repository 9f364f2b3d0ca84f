#include "guard/option_words.h"

#include <algorithm>

namespace deputy {
namespace {

// -exec, or --exec: some programs take both.
bool is_named(std::string_view word, std::string_view option) {
  const std::string_view name = word.substr(0, word.find('='));
  return name == option || (option.starts_with('-') && name.starts_with("--") && name.substr(1) == option);
}

bool is_risky(const ShellWord& word, std::string_view option) {
  if (option == "=") return !is_option(word) && word.text.contains('=');
  if (option == "@") return word.text.starts_with('@');
  if (option.ends_with('*')) return word.text.starts_with(option.substr(0, option.size() - 1));
  if (option.starts_with("--")) return word.text.starts_with("--") && is_long_option_like(word.text, option);
  if (option.size() == 2 && option[0] == '-') return has_letter(word.text, option[1]);
  return is_named(word.text, option);
}

}  // namespace

bool is_long_option_like(std::string_view word, std::string_view option) {
  const std::string_view name = word.substr(0, word.find('='));
  return name.size() > 2 && (option.starts_with(name) || name == option);  // long options may be shortened
}

bool has_risky(ShellWords words, std::string_view options) {
  for (std::size_t at = 0; at < options.size();) {
    const std::size_t end = std::min(options.find(' ', at), options.size());
    const std::string_view option = options.substr(at, end - at);
    if (std::ranges::any_of(words, [&](const ShellWord& word) { return is_risky(word, option); }))
      return true;
    at = end + 1;
  }
  return false;
}

bool is_made_to(ShellWords words, std::size_t from, const ProgramEntry& entry, std::string_view options) {
  if (has_risky(words.subspan(std::min(from, words.size())), options)) return true;
  if (!entry.takes_letters || from > 1 || words.size() < 2 || is_option(words[1])) return false;
  const ShellWord letters{"-" + words[1].text};
  return words[1].varies || has_risky({&letters, 1}, options);
}

}  // namespace deputy
