#include "app/failure.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace deputy {

std::string error_line(const Error& error) {
  std::string text = error.message;
  if (!error.advice.empty()) {
    while (text.ends_with('.')) text.pop_back();  // a sentence, where others are half of one
    text += "; " + error.advice;
  }
  return fmt::format("deputy: {}", made_visible(on_one_line(to_utf8(text))));
}

std::string as_typed(std::string_view text, std::string_view name, std::string_view home) {
  constexpr std::string_view kBegin = "`deputy";
  constexpr std::string_view kHome = " --home ";
  std::string out;
  for (std::size_t at = text.find(kBegin); at != std::string_view::npos; at = text.find(kBegin)) {
    const std::size_t end = text.find('`', at + 1);
    if (end == std::string_view::npos) break;
    const std::string_view after = text.substr(at + kBegin.size(), end - at - kBegin.size());
    const bool is_a_command = after.empty() || after.starts_with(' ');
    out.append(text.substr(0, at + 1)).append(is_a_command ? name : kBegin.substr(1)).append(after);
    if (is_a_command && !home.empty() && !after.contains(kHome)) out.append(kHome).append(home);
    out += '`';
    text.remove_prefix(end + 1);
  }
  return out.append(text);
}

std::string help_as_typed(std::string_view help, std::string_view name) {
  constexpr std::string_view kName = "deputy ";
  std::string out;
  for (std::size_t end = 0; !help.empty(); help.remove_prefix(end)) {
    end = std::min(help.find('\n'), help.size() - 1) + 1;
    std::string line(help.substr(0, end));
    for (const std::string_view before : {"  ", "Usage: "}) {
      if (line.starts_with(before) && std::string_view(line).substr(before.size()).starts_with(kName))
        line.replace(before.size(), kName.size() - 1, name);
    }
    out += line;
  }
  return as_typed(out, name, "");
}

json::object error_json(std::string_view code, std::string_view message, std::string_view advice) {
  json::object error{{"code", code}, {"message", to_utf8(message)}};
  if (!advice.empty()) error["hint"] = to_utf8(advice);
  return error;
}

json::object to_json(const CommandFailure& failure) {
  const Error& error = failure.error;
  return {{"status", word_for(failure.status)},
          {"error", error_json(name_of(error.code), error.message, error.advice)}};
}

}  // namespace deputy
