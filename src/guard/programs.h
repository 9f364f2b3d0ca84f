// What is known of programs by their names, for judging commands: which of them run other commands or code
// that their words or their input hold, and which of their options do so or write files. Only what can be
// told from the words; a program that is not known here is taken to do what its name says. A filter, not a
// boundary: the sandbox is.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "guard/shell.h"

namespace deputy {

using ShellWords = std::span<const ShellWord>;

// "rm" of "/bin/rm".
std::string_view program_of(std::string_view path);
inline std::string_view program_of(const ShellWord& word) { return program_of(std::string_view(word.text)); }

// Whether some of its words may be a command that it runs: sudo, env, xargs, find -exec.
bool carries_command(ShellWords words);
// Where that command begins, if it does nothing but run it: nohup, timeout 5, nice, by these very names.
std::optional<std::size_t> wrapped_command(ShellWords words);
// Where the command begins that it runs in whatever circumstances, if no option makes that hard to tell: of
// the above, and sudo, env A=1, xargs.
std::optional<std::size_t> carried_command(ShellWords words);
// What xargs, parallel and find -exec carry, as it may be once they run it: a word varies where another may
// come to stand in its place.
struct FilledWords {
  std::vector<ShellWord> words;
  bool grows = false;  // by what xargs reads, which may be options; what find finds begins with no dash
};
FilledWords fill_in(ShellWords words);
// Whether something else than the terminal is its input: what another command prints, or a file.
bool is_fed(const SimpleCommand& command);
// Whether it runs what no word of it tells plainly: sh -c, eval, python -c, an interpreter that reads its
// input.
bool runs_hidden_code(ShellWords words, bool is_fed);
// Whether it does no more than a rule means that gives its first `covered` words: what follows them makes it
// run or write nothing that its name does not promise.
bool is_tame(ShellWords words, std::size_t covered, bool is_fed);
// Whether it runs what its input holds, where its words name no code that it would run instead.
bool takes_code_from_input(ShellWords words);
// The files whose code it runs, where its words name some: a program by its path, or what an interpreter is
// given, also behind options and in what it carries, or as its input. Where an option may have a value nobody
// can tell which of two words is the file: then both. They are relative to its folder, or to one of those
// that it may enter before.
std::vector<std::string> files_that_may_run(const SimpleCommand& command);
// Those of them that it, or what it carries, reads in order to run them: no program by its path.
std::vector<std::string> scripts_that_may_run(const SimpleCommand& command);
// Those that it runs although no word names them: the Makefile of make; *.go where all that end so are.
std::vector<std::string> files_run_untold(ShellWords words);
// env -C a, ruby -Ca, --chdir=a: what its options name, in order; each may be a folder in the one before.
std::vector<std::string> folders_that_may_be_entered(const SimpleCommand& command);
// python -m pip install: the module in the place of a program; nothing where there is none.
std::vector<ShellWord> module_as_command(ShellWords words);
// tee, cp, sort -o: a file that it, or what it carries, names may be another thing afterwards.
bool may_write_what_it_names(ShellWords words);
// Its words but those that a copy only reads or takes away: cp Makefile old names Makefile, and leaves it as
// it is.
ShellWords words_that_may_be_replaced(ShellWords words);
// find -name '*.c' -exec sed -i p {} +: patterns of the names of the files that it finds and may write, "*"
// where they may be any; none where it writes nothing so.
std::vector<std::string> names_written_where_found(ShellWords words);
// tar, patch, xargs cp: what its input says may come to lie under a name that no word of it tells.
bool may_write_any_name(ShellWords words);
// unzip, git apply, gunzip, gcc: the same of a file that it names.
bool may_unpack_what_it_names(ShellWords words);
// ssh -oProxyCommand=x, script -cx: one that runs texts, with options whose values may be such.
bool may_run_what_an_option_says(ShellWords words);
// cd and the like: what later commands call by a relative path is another thing.
bool changes_folder(ShellWords words);
// The same, export, source and the like: what later commands do may depend on it.
bool changes_what_follows(ShellWords words);
// Whether its words are nothing that it could run: its own options, files and texts. Where they can be, the
// functions above say so.
bool keeps_words_to_itself(const ShellWord& program);
// Whether it only reads the files that it names.
bool only_reads(ShellWords words);

}  // namespace deputy
