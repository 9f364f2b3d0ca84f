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

#include "guard/shell.h"

namespace deputy {

using ShellWords = std::span<const ShellWord>;

// "rm" of "/bin/rm".
std::string_view program_of(std::string_view path);
inline std::string_view program_of(const ShellWord& word) { return program_of(std::string_view(word.text)); }

// Whether some of its words may be a command that it runs: sudo, env, xargs, find -exec.
bool carries_command(ShellWords words);
// Where that command begins, if it does nothing but run it: nohup, timeout 5, nice.
std::optional<std::size_t> wrapped_command(ShellWords words);
// Whether it runs what no word of it tells plainly: sh -c, eval, python -c, an interpreter that reads its
// input.
bool runs_hidden_code(ShellWords words);
// Whether it does no more than a rule means that gives its first `covered` words: what follows them makes it
// run or write nothing that its name does not promise.
bool is_tame(ShellWords words, std::size_t covered);
// The file whose code it runs, where its words name one: a program by its path, or what an interpreter is
// given.
std::optional<std::string> file_that_runs(ShellWords words);
// cd and the like: what later commands call by a relative path is another thing.
bool changes_folder(ShellWords words);
// Whether its words are nothing that it could run: its own options, files and texts. Where they can be, the
// functions above say so.
bool keeps_words_to_itself(const ShellWord& program);
// Whether it only reads the files that it names.
bool only_reads(ShellWords words);

}  // namespace deputy
