// What the word before the cursor may become: a /command, or an @path of the workspace.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tui/input_line.h"
#include "tui/line.h"

namespace deputy {

struct SlashCommand {
  std::string_view name;
  std::string_view arguments;
  std::string_view about;
};
std::span<const SlashCommand> slash_commands();

struct InputCompletion {
  std::vector<std::string> choices;  // whole words, to stand in place of the one before the cursor
  std::size_t chosen = 0;
  bool is_open() const { return !choices.empty(); }
};

// Commands that begin as the input does; none unless it is the beginning of one.
std::vector<std::string> commands_for(const InputLine& input);
// The path after the @ that is being typed: its folder and how the name begins.
struct PathWanted {
  std::string folder;  // with its last slash; empty is the workspace
  std::string name;
  bool operator==(const PathWanted&) const = default;
};
std::optional<PathWanted> path_wanted(const InputLine& input);
// Of a folder's entries (folders end with a slash), those that fit, in quotes where they have spaces; hidden
// ones only where asked for.
std::vector<std::string> paths_for(const PathWanted& wanted, const std::vector<std::string>& entries);

// Puts the chosen word in place.
void accept(InputCompletion& completion, InputLine& input);
std::vector<Line> lines_of(const InputCompletion& completion, std::size_t columns, std::size_t rows);

}  // namespace deputy
