// What the words of an interpreter give it to run: a file, code, or what it is fed. A part of programs.h.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "guard/program_table.h"
#include "guard/programs.h"

namespace deputy {

// Where the word of its own stands after which it runs something, if it has one: before it only options and
// their values do. Of other programs too: npm exec.
std::optional<std::size_t> running_subcommand(ShellWords words, const ProgramEntry& entry);
// Where its file, or -m, would stand: behind options that take no value and no code.
std::size_t place_of_file(ShellWords words);
// Whether it is given a file, or a module, and no code.
bool runs_a_file(ShellWords words, const ProgramEntry& entry, bool is_fed);
// Whether it reads its program from its input, as far as its words leave that open.
bool reads_its_program(ShellWords words, const ProgramEntry& entry);
// As is_tame() of programs.h.
bool interpreter_is_tame(ShellWords words, std::size_t covered, const ProgramEntry& entry, bool is_fed);
// The files that it runs or may run.
void add_interpreted_files(ShellWords words, const ProgramEntry& entry, std::vector<std::string>& files);

}  // namespace deputy
