// How things are shown, decided once from what the streams are, the environment and the flags. A missing
// terminal, TERM=dumb, NO_COLOR and a locale without UTF-8 are all ordinary.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "app/arguments.h"
#include "base/environment.h"
#include "tui/style.h"

namespace deputy {

// Which standard streams are terminals.
struct Terminals {
  bool in = false;
  bool out = false;
  bool err = false;
  bool in_background = false;  // stderr is one that others have, as under `timeout`
  bool pipes_out = false;  // stdout is none but the next program's, which may read the keys, as `less` does
};
Terminals terminals_of_process();

enum class ProgressForm { none, lines, live };

struct Looks {
  Style out;
  Style err;
  ProgressForm progress = ProgressForm::lines;
  bool person = false;      // somebody is there who can answer on the terminal
  bool hides_keys = false;  // what is typed is not to be shown in what is live
};
Looks looks_of(const Terminals& terminals, const Environment& environment, const CommonArguments& common);

constexpr std::size_t kAnyWidth = std::numeric_limits<std::size_t>::max();

// How wide a row may be there: as the terminal is; in a pipe or a file as it comes.
std::size_t row_width(int descriptor);

// Columns as wide as their widest cell; the last one as it comes. Where that is too wide, what is long is cut
// with "…", which no id is, and all rows go on in a further line before the same column.
std::vector<std::string> aligned(const std::vector<std::vector<std::string>>& rows,
                                 std::size_t width = kAnyWidth);

TerminalSize terminal_size(int descriptor);

}  // namespace deputy
