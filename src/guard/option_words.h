// What a word of a command may be to the program that gets it, by its looks.
#pragma once

#include <cstddef>
#include <string_view>

#include "guard/program_table.h"
#include "guard/programs.h"
#include "guard/shell.h"

namespace deputy {

inline bool is_option(const ShellWord& word) {
  return word.text.starts_with('-') || word.text.starts_with('+');
}

// A pattern that begins with one may become a file name such as -delete.
inline bool may_be_option(const ShellWord& word) {
  return is_option(word) ||
         (word.varies && !word.text.empty() && std::string_view("*?[").contains(word.text[0]));
}

// A word such as -uo, or -o/path, holds the letter.
inline bool has_letter(std::string_view word, char letter) {
  return word.size() > 1 && word[0] == '-' && word[1] != '-' && word.contains(letter);
}

inline bool looks_like_code(const ShellWord& word) {
  return word.text.find_first_of(" \t\n;|&<>$`()") != std::string::npos;
}

// Whether the word is this long option, or a beginning of it, which some take for it.
bool is_long_option_like(std::string_view word, std::string_view option);
// Whether one of the words is one of the options of an entry, in any spelling.
bool has_risky(ShellWords words, std::string_view options);
// Whether an option from this word on makes it do so.
bool is_made_to(ShellWords words, std::size_t from, const ProgramEntry& entry, std::string_view options);

}  // namespace deputy
