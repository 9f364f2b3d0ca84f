// Which of a target's properties an input is held to. One that is made up is held to one of them, chosen by
// its length: none pays for all, and over many all are tried. Those of a corpus (-runs=0), where each finding
// stays, are held to all.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>

namespace deputy {

inline bool is_held_to_all = false;

inline bool is_chosen(std::size_t size, std::size_t which, std::size_t of) {
  return is_held_to_all || size % of == which;
}

}  // namespace deputy

extern "C" [[gnu::used]] inline int LLVMFuzzerInitialize(int* count, char*** words) {
  const std::span given(*words, static_cast<std::size_t>(*count));
  deputy::is_held_to_all =
      std::ranges::any_of(given, [](const char* word) { return std::string_view(word) == "-runs=0"; });
  return 0;
}
