#include "app/looks.h"

#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/display.h"
#include "base/text.h"
#include "tui/raw_terminal.h"

namespace deputy {
namespace {

bool has_utf8(const Environment& environment) {
  for (const auto* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    if (const auto locale = environment.get(name); locale && !locale->empty()) {
      const std::string lower = lowered(*locale);
      return lower.contains("utf-8") || lower.contains("utf8");
    }
  }
  return false;
}

bool in_colour(ColourChoice choice, bool is_terminal, bool is_dumb, const Environment& environment) {
  if (choice != ColourChoice::automatic) return choice == ColourChoice::always;
  return is_terminal && !is_dumb && !environment.get("NO_COLOR");
}

}  // namespace

Terminals terminals_of_process() {
  struct stat out{};
  ::fstat(STDOUT_FILENO, &out);  // seam: no file of ours
  return {.in = ::isatty(STDIN_FILENO) == 1,
          .out = ::isatty(STDOUT_FILENO) == 1,
          .err = ::isatty(STDERR_FILENO) == 1,
          .in_background = is_in_background(STDERR_FILENO),
          .pipes_out = S_ISFIFO(out.st_mode)};
}

Looks looks_of(const Terminals& terminals, const Environment& environment, const CommonArguments& common) {
  const bool is_dumb = environment.get("TERM").value_or("dumb") == "dumb";
  const bool unicode = has_utf8(environment);
  Looks looks{.out = {in_colour(common.colour, terminals.out, is_dumb, environment), unicode},
              .err = {in_colour(common.colour, terminals.err, is_dumb, environment), unicode},
              .person = terminals.in && terminals.err};
  if (common.output == OutputForm::stream_json && terminals.out && terminals.err) {
    looks.progress = ProgressForm::none;  // the events themselves are on that screen
  } else if (terminals.err && !terminals.in_background && !is_dumb && !common.plain && !common.verbose) {
    looks.progress = ProgressForm::live;
    looks.hides_keys = terminals.in && !terminals.pipes_out;
  }
  return looks;
}

std::size_t row_width(int descriptor) {
  if (::isatty(descriptor) == 0) return kAnyWidth;
  return static_cast<std::size_t>(std::max(20, terminal_size(descriptor).columns - 1));
}

std::vector<std::string> aligned(const std::vector<std::vector<std::string>>& rows, std::size_t width) {
  constexpr std::size_t kUncut = 32;  // wider than any id or time
  constexpr std::string_view kFurtherLine = "\n    ";
  constexpr std::size_t kIndent = kFurtherLine.size() - 1;
  const std::size_t widest = std::max(kUncut, width - kIndent);
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t at = 0; at < row.size(); ++at)
      widths[at] = std::max(widths[at], std::min(widest, display_width(row[at])));
  }
  std::vector<bool> is_on_further_line(widths.size());
  std::size_t used = widths.empty() ? 0 : widths.front();
  for (std::size_t at = 1; at < widths.size(); ++at) {
    const std::size_t room = width - std::min(width, used + 2);
    is_on_further_line[at] = widths[at] > room && room < kUncut;
    if (!is_on_further_line[at]) widths[at] = std::min(widths[at], room);
    used = (is_on_further_line[at] ? kIndent : used + 2) + widths[at];
  }
  std::vector<std::string> lines;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t at = 0; at < row.size(); ++at) {
      if (is_on_further_line[at]) line.erase(line.find_last_not_of(' ') + 1).append(kFurtherLine);
      const std::string cell = cut_to_width(row[at], widths[at]);
      line += cell;
      if (at + 1 < row.size()) line.append(widths[at] - display_width(cell) + 2, ' ');
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

TerminalSize terminal_size(int descriptor) {
  winsize found{};
  TerminalSize size;
  if (::ioctl(descriptor, TIOCGWINSZ, &found) != 0) return size;
  if (found.ws_col > 0) size.columns = found.ws_col;
  if (found.ws_row > 0) size.rows = found.ws_row;
  return size;
}

}  // namespace deputy
