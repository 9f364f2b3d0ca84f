#include "tools/exact_edit.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "base/text.h"
#include "tools/wording.h"

namespace deputy {
namespace {

using Places = std::vector<std::size_t>;

constexpr std::size_t kMostLinesNamed = 8;
constexpr std::size_t kMostLinesCompared = 2000;
constexpr std::size_t kMostBytesCompared = 160;  // of a line
constexpr std::size_t kMostBytesQuoted = 2048;

// All that do not overlap; or, to see whether there is only one, the first few that do.
Places places_of(std::string_view needle, std::string_view content, ExactEdit::Which which) {
  constexpr std::size_t kMostToTell = 1000;
  const bool wants_all = which == ExactEdit::Which::all;
  const std::size_t step = wants_all ? needle.size() : 1;
  Places places;
  for (std::size_t at = content.find(needle); at != std::string_view::npos;
       at = content.find(needle, at + step)) {
    places.push_back(at);
    if (!wants_all && places.size() == kMostToTell) break;
  }
  return places;
}

std::string with_crlf(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n' && (i == 0 || text[i - 1] != '\r')) out += '\r';
    out += text[i];
  }
  return out;
}

enum class LineEnds { lf, crlf, mixed };

LineEnds line_ends_of(std::string_view content) {
  bool has_lf = false;
  bool has_crlf = false;
  for (std::size_t at = content.find('\n'); at != std::string_view::npos; at = content.find('\n', at + 1))
    ((at > 0 && content[at - 1] == '\r') ? has_crlf : has_lf) = true;
  return !has_crlf ? LineEnds::lf : has_lf ? LineEnds::mixed : LineEnds::crlf;
}

std::string lines_named(std::string_view content, const Places& places) {
  std::vector<std::string> lines;
  std::size_t line = 1;
  std::size_t counted_to = 0;
  for (const std::size_t at : places) {
    line += static_cast<std::size_t>(std::ranges::count(content.substr(counted_to, at - counted_to), '\n'));
    counted_to = at;
    if (lines.size() == kMostLinesNamed) {
      lines.push_back(fmt::format("{} more", places.size() - kMostLinesNamed));
      break;
    }
    lines.push_back(std::to_string(line));
  }
  if (lines.size() == 1) return fmt::format("line {}", lines.front());
  const std::string last = std::move(lines.back());
  lines.pop_back();
  return fmt::format("lines {} and {}", fmt::join(lines, ", "), last);
}

// Without "     12\t" at the beginning of every line; empty where not all lines begin like that.
std::string without_line_numbers(std::string_view text) {
  std::string out;
  for (std::string_view line : split(text, '\n')) {
    const std::size_t tab = line.find('\t');
    const std::string_view number = tab == std::string_view::npos ? "" : trimmed(line.substr(0, tab));
    const bool is_number =
        !number.empty() && std::ranges::all_of(number, [](char c) { return c >= '0' && c <= '9'; });
    if (!is_number && !line.empty()) return {};
    if (!out.empty()) out += '\n';
    out += line.empty() ? line : line.substr(tab + 1);
  }
  return out;
}

// The lines that are the wanted ones but for white space, as they stand in the file.
std::string alike_but_for_white_space(const std::vector<std::string_view>& lines, std::string_view wanted) {
  std::vector<std::string> plain;
  for (const std::string_view line : lines_of(trimmed(wanted))) plain.push_back(on_one_line(line));
  if (plain.empty() || lines.size() < plain.size()) return {};
  for (std::size_t first = 0; first + plain.size() <= lines.size(); ++first) {
    std::size_t same = 0;
    while (same < plain.size() && on_one_line(lines[first + same]) == plain[same]) ++same;
    if (same < plain.size()) continue;
    std::string found;
    for (std::size_t i = 0; i < same; ++i) found += fmt::format("{}\n", lines[first + i]);
    return fmt::format("White space differs. From line {} on the file has:\n{}", first + 1,
                       bounded(found, kMostBytesQuoted).text);
  }
  return {};
}

std::string nearest_line(const std::vector<std::string_view>& lines, std::string_view wanted) {
  const auto wanted_lines = lines_of(wanted);
  const auto first =
      std::ranges::find_if(wanted_lines, [](std::string_view line) { return trimmed(line).size() > 2; });
  if (first == wanted_lines.end()) return {};
  std::vector<std::string> candidates;
  for (const std::string_view line : lines) {
    if (candidates.size() == kMostLinesCompared) break;
    candidates.emplace_back(utf8_prefix(trimmed(line), kMostBytesCompared));
  }
  const auto near = nearest(utf8_prefix(trimmed(*first), kMostBytesCompared), candidates, 1);
  if (near.empty()) return {};
  const auto at = std::ranges::find(candidates, near.front()) - candidates.begin();
  return fmt::format("The nearest is line {}: {}\n", at + 1, near.front());
}

std::string not_found(std::string_view content, std::string_view wanted, std::string_view name) {
  std::string text = fmt::format("old_string does not occur in {}, so nothing was changed. ", name);
  if (const std::string bare = without_line_numbers(wanted); !bare.empty() && content.contains(bare))
    return text + "Leave out the line numbers that Read prints.";
  if (wanted.contains("[redacted]"))
    return text + "What is shown as [redacted] is hidden and cannot be matched: choose a piece without it.";
  const auto lines = lines_of(content);
  std::string hint = alike_but_for_white_space(lines, wanted);
  if (hint.empty()) hint = nearest_line(lines, wanted);
  return fmt::format("{}{}Copy the text exactly as Read shows it, or read the file again.", text,
                     to_utf8(hint));
}

std::string replaced(std::string_view content, const Places& places, std::size_t length,
                     std::string_view new_text) {
  std::string out;
  out.reserve(content.size() + places.size() * new_text.size());
  std::size_t copied = 0;
  for (const std::size_t at : places) {
    out.append(content.substr(copied, at - copied)).append(new_text);
    copied = at + length;
  }
  return out.append(content.substr(copied));
}

}  // namespace

std::expected<Edited, std::string> apply_edit(std::string_view content, const ExactEdit& edit,
                                              std::string_view name) {
  if (edit.old_text == edit.new_text)
    return std::unexpected("old_string and new_string are the same: there is nothing to change.");
  std::string old_text = edit.old_text;
  std::string new_text = edit.new_text;
  const LineEnds ends = line_ends_of(content);
  if (ends == LineEnds::crlf || (ends == LineEnds::mixed && !content.contains(old_text))) {
    old_text = with_crlf(old_text);
    new_text = with_crlf(new_text);
  }
  const Places places = places_of(old_text, content, edit.which);
  if (places.empty()) return std::unexpected(not_found(content, edit.old_text, name));
  if (places.size() > 1 && edit.which == ExactEdit::Which::the_only_one) {
    return std::unexpected(
        fmt::format("old_string occurs {} times in {}, at {}, so nothing was changed. Take in lines around "
                    "the one you mean "
                    "until it is the only one, or set replace_all.",
                    places.size(), name, lines_named(content, places)));
  }
  return Edited{replaced(content, places, old_text.size(), new_text), lines_named(content, places)};
}

}  // namespace deputy
