#include "model/rehearsal_findings.h"

#include <algorithm>
#include <charconv>

#include "base/json.h"
#include "base/text.h"

namespace deputy {
namespace {

constexpr std::size_t kLongestPath = 400;
constexpr int kLargestLine = 100'000'000;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// A whole number from 1 at the start of the text, and how many characters it takes.
struct Number {
  int value = 0;
  std::size_t length = 0;
};
Number number_at_start(std::string_view text) {
  Number number;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number.value);
  if (text.empty() || !is_digit(text.front()) || error != std::errc() || number.value < 1 ||
      number.value > kLargestLine) {
    return {};
  }
  number.length = static_cast<std::size_t>(end - text.data());
  return number;
}

bool is_path(std::string_view text) {
  if (text.empty() || text.size() > kLongestPath || text != trimmed(text)) return false;
  return std::ranges::none_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

// What tools say about a result, instead of a part of it.
bool is_cut_marker(std::string_view line) { return line.starts_with("[…"); }
bool is_remark(std::string_view line) {
  return line.starts_with('[') && line.ends_with(']') && line.contains(' ');
}
bool says_nothing_found(std::span<const std::string_view> lines) {
  return !lines.empty() &&
         (lines.front().starts_with("No matches for ") || lines.front().starts_with("No files match "));
}
bool says_more_is_there(std::span<const std::string_view> lines) {
  return !lines.empty() && is_remark(lines.front()) && lines.front().contains(" rows follow");
}

// "1,204 files]" begins with 1204.
std::size_t counted_at_start(std::string_view text) {
  std::size_t number = 0;
  for (const char c : text.substr(0, 15)) {
    if (c != ',' && !is_digit(c)) break;
    if (c != ',') number = number * 10 + static_cast<std::size_t>(c - '0');
  }
  return number;
}

template <class T>
void sort_unique(std::vector<T>& values) {
  std::ranges::sort(values);
  const auto rest = std::ranges::unique(values);
  values.erase(rest.begin(), rest.end());
}

std::string argument(const Call& call, std::string_view key) {
  const auto arguments = parse_json_object(call.arguments);
  return arguments ? string_or(*arguments, key, "") : "";
}

template <class T>
void add_all(std::vector<T>& to, std::vector<T> more) {
  std::ranges::move(more, std::back_inserter(to));
}

void take_grep(const Call& call, std::span<const std::string_view> lines, Findings& findings) {
  if (argument(call, "output_mode") == "count") {
    findings.in_lengths = read_totals(lines);
    add_all(findings.lengths, read_counts(lines));
  } else {
    findings.in_hits = read_totals(lines);
    add_all(findings.hits, read_hits(lines));
  }
}

void take(const Answered& answered, Findings& findings) {
  const auto& [call, result] = answered;
  if (result.status == ToolStatus::error) {
    // Of several errors of one tool the first tells enough.
    findings.troubles.emplace(call.name, result.content);
    return;
  }
  const std::vector<std::string_view> lines = believable_lines(result.content, findings.cut);
  if (call.name == "Grep") {
    take_grep(call, lines, findings);
  } else if (call.name == "Glob") {
    findings.in_paths.files += read_totals(lines).files;
    add_all(findings.paths, read_paths(lines));
  } else if (call.name == "List") {
    add_all(findings.top, read_entries(lines));
  } else if (call.name == "Read") {
    const std::string path = argument(call, "file_path");
    add_all(findings.read[path], read_numbered(path, lines));
    sort_unique(findings.read[path]);
  }
}

}  // namespace

Findings findings_of(std::span<const Answered> answered) {
  Findings findings;
  for (const Answered& one : answered) take(one, findings);
  sort_unique(findings.paths);
  sort_unique(findings.top);
  sort_unique(findings.hits);
  sort_unique(findings.lengths);
  return findings;
}

std::vector<std::string> Findings::known_files() const {
  std::vector<std::string> files = paths.empty() ? top : paths;
  for (const Cite& file : lengths) files.push_back(file.path);
  std::erase_if(files, [](const std::string& path) { return path.ends_with('/'); });
  sort_unique(files);
  return files;
}

std::vector<std::string_view> believable_lines(std::string_view result, bool& cut) {
  const std::vector<std::string_view> lines = lines_of(result);
  std::vector<std::string_view> believable;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const bool at_cut = is_cut_marker(lines[i]) || (i > 0 && is_cut_marker(lines[i - 1])) ||
                        (i + 1 < lines.size() && is_cut_marker(lines[i + 1]));
    if (at_cut) {
      cut = true;
    } else {
      believable.push_back(lines[i]);
    }
  }
  cut = cut || says_more_is_there(lines);
  return believable;
}

Totals read_totals(std::span<const std::string_view> lines) {
  if (lines.empty() || !is_remark(lines.front())) return {};
  const std::string_view line = lines.front().substr(1);
  const std::size_t in = line.find(" matching line");
  if (in == std::string_view::npos) return {.lines = 0, .files = counted_at_start(line)};
  const std::size_t files = line.find(" in ", in);
  return {.lines = counted_at_start(line),
          .files = files == std::string_view::npos ? 0 : counted_at_start(line.substr(files + 4))};
}

std::vector<Cite> read_hits(std::span<const std::string_view> lines) {
  std::vector<Cite> hits;
  if (says_nothing_found(lines)) return hits;
  for (const std::string_view line : lines) {
    // The path may hold colons, the text too: the first number between two of them is the line's.
    for (std::size_t colon = line.find(':'); colon != std::string_view::npos;
         colon = line.find(':', colon + 1)) {
      const Number number = number_at_start(line.substr(colon + 1));
      const std::size_t after = colon + 1 + number.length;
      if (number.length == 0 || after >= line.size() || line[after] != ':') continue;
      const std::string_view path = line.substr(0, colon);
      if (is_path(path) && !(is_remark(line) && path.contains(' '))) {
        hits.push_back(
            {std::string(line.substr(0, colon)), number.value, std::string(line.substr(after + 1))});
      }
      break;
    }
  }
  return hits;
}

std::vector<Cite> read_counts(std::span<const std::string_view> lines) {
  std::vector<Cite> counts;
  for (const std::string_view line : lines) {
    const std::size_t colon = line.rfind(':');
    if (colon == std::string_view::npos || !is_path(line.substr(0, colon))) continue;
    const Number number = number_at_start(line.substr(colon + 1));
    if (number.length == 0 || colon + 1 + number.length != line.size()) continue;
    counts.push_back({std::string(line.substr(0, colon)), number.value, ""});
  }
  return counts;
}

std::vector<Cite> read_numbered(std::string_view path, std::span<const std::string_view> lines) {
  std::vector<Cite> numbered;
  for (std::string_view line : lines) {
    while (line.starts_with(' ')) line.remove_prefix(1);
    const Number number = number_at_start(line);
    if (number.length == 0 || number.length >= line.size() || line[number.length] != '\t') continue;
    numbered.push_back({std::string(path), number.value, std::string(line.substr(number.length + 1))});
  }
  return numbered;
}

std::vector<std::string> read_paths(std::span<const std::string_view> lines) {
  std::vector<std::string> paths;
  if (says_nothing_found(lines)) return paths;
  for (const std::string_view line : lines) {
    if (is_path(line) && !is_remark(line)) paths.emplace_back(line);
  }
  return paths;
}

std::vector<std::string> read_entries(std::span<const std::string_view> lines) {
  std::vector<std::string> names;
  for (const std::string_view line : lines) {
    const std::size_t gap = line.rfind("  ");
    // Neither links nor devices are anybody's finding.
    const bool has_size = gap != std::string_view::npos && gap > 0 && gap + 2 < line.size();
    const bool is_file = has_size && is_digit(line[gap + 2]);
    if (!is_path(line) || is_remark(line) || (!is_file && !line.ends_with('/'))) continue;
    names.emplace_back(is_file ? line.substr(0, gap) : line);
  }
  return names;
}

std::vector<ChildReport> read_children(std::string_view result) {
  std::vector<ChildReport> children;
  for (const std::string_view line : lines_of(result)) {
    const std::size_t close = line.find("] ");
    if (line.starts_with("### [") && close != std::string_view::npos) {
      children.push_back(
          {std::string(line.substr(5, close - 5)), std::string(trimmed(line.substr(close + 2))), {}});
    } else if (!children.empty() && !line.starts_with("**Usage**") && !trimmed(line).empty()) {
      children.back().lines.emplace_back(line);
    }
  }
  return children;
}

}  // namespace deputy
