#include "app/looks.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/text.h"

namespace deputy {
namespace {

constexpr Marks kSigns{.done = "✓", .partial = "⚠", .failed = "✗", .working = "→"};
constexpr Marks kAscii{.done = "+", .partial = "!", .failed = "x", .working = ">"};

bool has_utf8(const Environment& environment) {
  for (const auto* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    if (const auto locale = environment.get(name)) {
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

std::string_view code_of(Tone tone) {
  switch (tone) {
    case Tone::good:
      return "32";
    case Tone::doubtful:
      return "33";
    case Tone::bad:
      return "31";
    case Tone::faint:
      return "2";
    case Tone::plain:
      break;
  }
  return "0";
}

}  // namespace

Terminals terminals_of_process() {
  return {::isatty(STDIN_FILENO) == 1, ::isatty(STDOUT_FILENO) == 1, ::isatty(STDERR_FILENO) == 1};
}

Looks looks_of(const Terminals& terminals, const Environment& environment, const CommonArguments& common) {
  const bool is_dumb = environment.get("TERM").value_or("dumb") == "dumb";
  const bool unicode = has_utf8(environment);
  Looks looks{.out = {in_colour(common.colour, terminals.out, is_dumb, environment), unicode},
              .err = {in_colour(common.colour, terminals.err, is_dumb, environment), unicode},
              .person = terminals.in && terminals.err};
  if (common.output == OutputForm::stream_json && terminals.out && terminals.err) {
    looks.progress = ProgressForm::none;  // the events themselves are on that screen
  } else if (terminals.err && !is_dumb && !common.plain && !common.verbose) {
    looks.progress = ProgressForm::live;
  }
  return looks;
}

TerminalSize terminal_size(int descriptor) {
  winsize found{};
  TerminalSize size;
  if (::ioctl(descriptor, TIOCGWINSZ, &found) != 0) return size;
  if (found.ws_col > 0) size.columns = found.ws_col;
  if (found.ws_row > 0) size.rows = found.ws_row;
  return size;
}

std::string toned(const Style& style, Tone tone, std::string_view text) {
  if (!style.colour || tone == Tone::plain) return std::string(text);
  return fmt::format("\x1b[{}m{}\x1b[0m", code_of(tone), text);
}

const Marks& marks_of(const Style& style) { return style.unicode ? kSigns : kAscii; }

}  // namespace deputy
