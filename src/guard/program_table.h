// The table behind programs.h: nothing but names.
#pragma once

#include <cstdint>
#include <string_view>

namespace deputy {

enum class ProgramKind : std::uint8_t {
  plain,
  wrapper,      // runs the command that its words hold, and changes little
  carrier,      // runs a command in other circumstances, or several times, or elsewhere
  interpreter,  // runs code that a file, its words or its input hold
  shell,        // of the shell itself: runs text, or changes what later commands mean
};

struct ProgramEntry {
  std::string_view names;  // separated by spaces, without version
  ProgramKind kind = ProgramKind::plain;
  // Of wrapper and carrier: words before the command; negative: they may be a text that a shell gets to read.
  // Of interpreter: 1 where any word but a single file may be code, and its input too.
  int operands = 0;
  std::string_view carries;  // options after which a command stands, word by word
  // Options that make it run something else. "=": any word with one in it; "-Wl,*": any that begins so.
  std::string_view runs;
  // Options that make it write or delete files although its name does not say so, or define what may come to
  // that: cmake -D.
  std::string_view writes;
  // Of plain: words of its own after which a command stands, or a text for a shell: npm exec. Of interpreter:
  // those after which code does.
  std::string_view subcommands;
  std::string_view texts;      // options after which a text for a shell stands
  bool takes_letters = false;  // its first word may be letters of options without their dash: tar cf
  int written_operand = 0;     // which of its files it writes, counted from 1: that after those that it reads
  bool is_shell_if_bare = false;      // of carrier: reads commands from its input where its words hold none
  std::string_view with_values;       // letters of options whose value is the next word, and so no such file
  bool shortens_subcommands = false;  // npm i: the beginning of a subcommand may do for it
  // Its subcommands by their first names; what is neither among these nor among the next may be an alias that
  // the person has made, and mean any: cargo zz.
  std::string_view first_names;
  std::string_view other_names;     // the names of a subcommand that has several, group by group: a b | c d
  bool aliases_come_first = false;  // before the other names: cargo b may be what the project makes of it
  std::string_view implied_subcommand;  // npm test is npm run test
  std::string_view implied_by;          // the words that imply it; where none are told, all but the next
  std::string_view never_implied_by;
  // After these another subcommand stands, maybe behind a name: yarn workspace a publish. "*": after any.
  std::string_view nesting_subcommands;
  std::string_view nesting_behind_name;  // those of them that take that name
  std::string_view runs_untold;          // files whose code it runs although no word names them
  // The same by their endings; where subcommands are told, only they run them: go run.
  std::string_view runs_untold_endings;
  std::string_view running_subcommands;
  bool makes_programs = false;  // of the files that it names
  bool only_shows = false;      // of interpreter: or edits what its words name, and does not run it
};

// The entry of a program; a plain one without options for those that nobody lists.
const ProgramEntry& entry_of(std::string_view program);

// Whether what it does with its words is known: it runs none of them but as its entry says.
bool is_well_known(std::string_view program);

// A program that nobody but the system's owner puts there.
bool is_system_path(std::string_view path);

// Whether a list of names, separated by spaces, has this one, or one that begins so.
bool lists(std::string_view names, std::string_view name);
bool lists_beginning(std::string_view names, std::string_view beginning);

// All names of the subcommand, separated by spaces; none where it has but one.
std::string_view names_of_subcommand(const ProgramEntry& entry, std::string_view subcommand);
// Whether this may be an alias, of any of its subcommands.
bool may_be_alias(const ProgramEntry& entry, std::string_view subcommand);

// Whether in the place of a subcommand this may mean the implied one.
bool may_imply_subcommand(const ProgramEntry& entry, std::string_view subcommand);
// Whether what it means stands somewhere behind it, and whether a name stands between.
bool passes_subcommand_on(const ProgramEntry& entry, std::string_view subcommand);
bool takes_name_before_nested(const ProgramEntry& entry, std::string_view subcommand);

// Whether the next word is the value of this option, which may stand before a subcommand.
enum class TakesValue : std::uint8_t { no, maybe, yes };
TakesValue takes_value(std::string_view program, std::string_view option);

// Subcommands of git that no alias can replace and that run nothing by themselves.
bool is_plain_git_command(std::string_view name);
// Other subcommands that are known; what is neither may be an alias, and run anything.
bool is_known_git_command(std::string_view name);
// Subcommands that run a program which their words or the repository's settings name.
bool is_git_runner(std::string_view subcommand);
// The word after which this subcommand runs what follows; "" where there is none.
std::string_view git_running_word(std::string_view subcommand);
// The letters of short options that make this subcommand run, or write, something.
std::string_view git_running_letters(std::string_view subcommand);
std::string_view git_writing_letters(std::string_view subcommand);

}  // namespace deputy
