// How things are shown, decided once from what the streams are, the environment and the flags. A missing
// terminal, TERM=dumb, NO_COLOR and a locale without UTF-8 are all ordinary.
#pragma once

#include "app/arguments.h"
#include "base/environment.h"

namespace deputy {

// Which standard streams are terminals.
struct Terminals {
  bool in = false;
  bool out = false;
  bool err = false;
};
Terminals terminals_of_process();

struct Style {
  bool colour = false;
  bool unicode = true;
};

enum class ProgressForm { none, lines, live };

struct Looks {
  Style out;
  Style err;
  ProgressForm progress = ProgressForm::lines;
  bool person = false;  // somebody is there who can answer on the terminal
};
Looks looks_of(const Terminals& terminals, const Environment& environment, const CommonArguments& common);

struct TerminalSize {
  int columns = 80;
  int rows = 24;
};
TerminalSize terminal_size(int descriptor);

enum class Tone { plain, good, doubtful, bad, faint };
// In colour where the style has it.
std::string toned(const Style& style, Tone tone, std::string_view text);

// The signs of progress, or what stands for them in plain ASCII.
struct Marks {
  std::string_view done;
  std::string_view partial;
  std::string_view failed;
  std::string_view working;
};
const Marks& marks_of(const Style& style);

}  // namespace deputy
