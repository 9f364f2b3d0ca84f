#include "guard/display.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "guard/host_name.h"

namespace deputy {
namespace {

bool needs_no_quotes(std::string_view text) {
  constexpr static std::string_view kPlain = "_-./,:+=@%";
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || kPlain.contains(c);
  });
}

std::string quoted(std::string_view text) {
  if (needs_no_quotes(text)) return std::string(text);
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') {
      out += R"('\'')";
    } else {
      out += c;
    }
  }
  return out + "'";
}

std::string shown(const Redirection& to) {
  using enum Redirection::Kind;
  const bool is_usual = to.descriptor == (to.kind == read ? 0 : 1);
  std::string out = is_usual ? "" : std::to_string(to.descriptor);
  switch (to.kind) {
    case read:
      return out + "< " + quoted(to.target);
    case write:
      return out + "> " + quoted(to.target);
    case append:
      return out + ">> " + quoted(to.target);
    case duplicate:
      return out + ">&" + to.target;
  }
  return out;
}

std::string_view sign_of(Joint joint) {
  switch (joint) {
    case Joint::then:
      return ";";
    case Joint::pipe:
      return " |";
    case Joint::if_done:
      return " &&";
    case Joint::if_failed:
      return " ||";
  }
  return ";";
}

constexpr std::size_t kMostBlanks = 8;

std::string with_spaces_counted(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find_first_not_of(' ', at), text.size());
    if (end - at > kMostBlanks) {
      fmt::format_to(std::back_inserter(out), "[{} spaces]", end - at);
      at = end;
    } else {
      out += text[at++];
    }
  }
  return out;
}

// A page of spaces, or of empty lines, would push what follows out of sight.
std::string with_blanks_counted(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find_first_not_of(" \t\n", at), text.size());
    const std::string_view blanks = text.substr(at, end - at);
    const auto lines = static_cast<std::size_t>(std::ranges::count(blanks, '\n'));
    if (lines > kMostBlanks) {
      fmt::format_to(std::back_inserter(out), "[{} line breaks]", lines);
    } else {
      out += with_spaces_counted(blanks);
    }
    if (end < text.size()) out += text[end];
    at = end + 1;
  }
  return out;
}

}  // namespace

std::string shown(std::span<const SimpleCommand> commands) {
  std::string out;
  for (const SimpleCommand& command : commands) {
    if (!out.empty()) out.append(sign_of(command.joint)).append("\n");
    std::string_view gap;
    for (const ShellWord& word : command.words) {
      out.append(gap).append(word.varies ? word.text : quoted(word.text));
      gap = " ";
    }
    for (const Redirection& to : command.redirections) out.append(" ").append(shown(to));
  }
  return out;
}

std::string shown_command(std::string_view command) {
  const ShellReading reading = read_shell(command);
  if (reading) return with_blanks_counted(shown(*reading));
  return fmt::format("(judged as a whole, as it cannot be taken apart: {})\n{}", reading.error().why,
                     with_blanks_counted(made_unmistakable(command)));
}

std::string shown_host(std::string_view host) { return ascii_host(host).value_or(made_unmistakable(host)); }

}  // namespace deputy
