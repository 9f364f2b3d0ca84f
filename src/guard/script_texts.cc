#include "guard/script_texts.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace deputy {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

void skip_blanks(std::string_view& script) {
  while (script.starts_with(' ')) script.remove_prefix(1);
}

bool take_number(std::string_view& script) {
  const std::size_t digits = std::min(script.find_first_not_of("0123456789"), script.size());
  script.remove_prefix(digits);
  return digits > 0;
}

// Where brackets of an expression end, if all seds agree: on what ends them, and on whether a mark in them
// ends the expression, they do not.
std::optional<std::size_t> end_of_brackets(std::string_view script, std::size_t at, char mark) {
  at += script.substr(at + 1).starts_with('^') ? 2 : 1;
  if (script.substr(at).starts_with(']')) return std::nullopt;
  for (; at < script.size() && script[at] != mark && script[at] != '\\' && script[at] != '\n'; ++at) {
    if (script[at] == ']') return at;
    if (script[at] != '[') continue;
    const std::size_t end = script.find_first_not_of("abcdefghijklmnopqrstuvwxyz", at + 2);  // [[:space:]]
    if (!script.substr(at).starts_with("[:") ||
        !script.substr(std::min(end, script.size())).starts_with(":]"))
      return std::nullopt;
    at = end + 1;
  }
  return std::nullopt;
}

// Takes what stands before the mark, and the mark.
bool take_up_to(char mark, bool is_expression, std::string_view& script) {
  for (std::size_t at = 0; at < script.size() && script[at] != '\n'; ++at) {
    if (script[at] == mark) {
      script.remove_prefix(at + 1);
      return true;
    }
    if (script[at] == '\\') {
      ++at;
      if (script.substr(at).starts_with('\n')) return false;
    } else if (is_expression && script[at] == '[') {
      const auto end = end_of_brackets(script, at, mark);
      if (!end) return false;
      at = *end;
    }
  }
  return false;
}

// Takes 12, $ or /…/ from the front.
bool take_address(std::string_view& script) {
  if (!script.starts_with('$') && !script.starts_with('/')) return take_number(script);
  const bool is_last = script.starts_with('$');
  script.remove_prefix(1);
  return is_last || take_up_to('/', true, script);
}

bool take_addresses(std::string_view& script) {
  if (script.empty() || !(is_digit(script[0]) || script[0] == '$' || script[0] == '/')) return true;
  if (!take_address(script)) return false;
  if (!script.starts_with(',')) return true;
  script.remove_prefix(1);
  if (!script.starts_with('+')) return take_address(script);
  script.remove_prefix(1);
  return take_number(script);
}

bool take_substitution(std::string_view& script) {
  constexpr std::string_view kMarks = "/|,#@%!:+_~^=";
  if (script.size() < 4 || !kMarks.contains(script[1])) return false;
  const bool is_expression = script[0] == 's';
  const char mark = script[1];
  script.remove_prefix(2);
  if (!take_up_to(mark, is_expression, script) || !take_up_to(mark, false, script)) return false;
  const std::string_view flags = is_expression ? "gpiIM0123456789" : "";
  script.remove_prefix(std::min(script.find_first_not_of(flags), script.size()));
  return true;
}

// To the end of the script, in one line.
bool take_text(std::string_view& script) {
  script.remove_prefix(1);
  skip_blanks(script);
  const bool is_plain = !script.empty() && script.find_first_of("\\\n") == std::string_view::npos;
  script = {};
  return is_plain;
}

bool take_command(std::string_view& script) {
  skip_blanks(script);
  if (!take_addresses(script)) return false;
  skip_blanks(script);
  while (script.starts_with('!')) script.remove_prefix(1);
  skip_blanks(script);
  if (script.empty()) return false;
  if (script[0] == 's' || script[0] == 'y') return take_substitution(script);
  if (std::string_view("aic").contains(script[0])) return take_text(script);
  const bool is_tame = std::string_view("pdqQ=nNDPGHghxl").contains(script[0]);
  script.remove_prefix(1);
  return is_tame;
}

bool is_tame_sed_script(std::string_view script) {
  do {
    if (!take_command(script)) return false;
    skip_blanks(script);
    if (!script.empty() && script[0] != ';' && script[0] != '\n') return false;
    if (!script.empty()) script.remove_prefix(1);
  } while (!script.empty());
  return true;
}

// Of -i what follows is the ending of a copy that is kept, which may lead elsewhere.
bool is_tame_sed_option(std::string_view option) {
  constexpr auto kLong = std::to_array<std::string_view>(
      {"--in-place", "--quiet", "--silent", "--regexp-extended", "--null-data", "--separate"});
  if (option.starts_with("--")) return std::ranges::find(kLong, option) != kLong.end();
  option.remove_prefix(1);
  option.remove_prefix(std::min(option.find_first_not_of("nErsuz"), option.size()));
  return option.empty() || (option[0] == 'i' && option.find_first_of("/*") == std::string_view::npos);
}

bool may_become_option(const ShellWord& word) {
  return word.text.starts_with('-') || (word.varies && word.text.find_first_of("*?[") == 0);
}

}  // namespace

bool is_tame_sed(std::span<const ShellWord> words) {
  const auto is_script = [&words](std::size_t at) {
    return at < words.size() && !words[at].varies && is_tame_sed_script(words[at].text);
  };
  bool has_script = false;
  std::size_t at = 1;
  for (; at < words.size() && words[at].text.starts_with('-'); ++at) {
    if (words[at].varies) return false;
    if (words[at].text == "-e") {
      has_script = true;
      if (!is_script(++at)) return false;
    } else if (!is_tame_sed_option(words[at].text)) {
      return words.size() == 2 && words[1].text == "--version";
    }
  }
  if (!has_script) {
    if (!is_script(at)) return false;
    ++at;
  }
  // Options are taken wherever they stand.
  return std::ranges::none_of(words.subspan(at), may_become_option);
}

bool is_tame_awk(std::span<const ShellWord> words) {
  std::size_t at = 1;
  for (; at < words.size(); ++at) {
    const std::string_view text = words[at].text;
    if (!text.starts_with("-F") && !text.starts_with("-v")) break;
    // The shell may make several words of it, and one of them the program.
    if (words[at].varies) return false;
    if (text.size() > 2) continue;
    ++at;
    if (at < words.size() && words[at].varies) return false;
  }
  if (at >= words.size() || words[at].varies || words[at].text.starts_with('-')) return false;
  std::string program = words[at].text;
  for (auto sign = program.find("||"); sign != std::string::npos; sign = program.find("||"))
    program.erase(sign, 2);
  if (program.find_first_of("|@") != std::string::npos) return false;
  if (program.contains("system") || program.contains("getline")) return false;
  // Where nothing is printed it compares.
  if (program.contains('>') && program.contains("print")) return false;
  return std::ranges::none_of(words.subspan(at + 1), may_become_option);
}

}  // namespace deputy
