// What a word of a command may be to the program that gets it, by its looks.
#pragma once

#include <string_view>

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

}  // namespace deputy
