// What takes foreign bytes apart, each as its fuzzer calls it.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace deputy {

struct ForeignParser {
  std::string corpus;  // of the fuzzer whose name it is
  // How it ended, in so few letters that saying so takes no memory.
  std::function<char(std::string_view)> parse;
};

// All but those of TOML.
std::vector<ForeignParser> foreign_parsers();

// toml++ hands an error's text to a constructor that may not throw: a process that has no memory for it ends
// there. Settings are read while it starts, and so are the agents of Codex.
inline constexpr std::array<std::string_view, 3> kParsersOfToml{"settings", "settings_edit", "profile_codex"};

}  // namespace deputy
