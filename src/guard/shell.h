// A shell command taken apart, where it is plain enough: words, quotes ('…', "…", \), |, &&, ||, ; or a line
// break, and simple redirections. The words are exactly those bash would pass on. Whatever else a shell
// understands (expansions, substitutions, here-documents, control words, subshells, assignments, &, comments,
// characters that cannot be seen) makes the command opaque: nobody can say what it would run, so nobody may
// be sure of it. Pure; the same text always gives the same answer.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

namespace deputy {

struct ShellWord {
  std::string text;
  bool varies = false;  // an unquoted pattern or ~: what it becomes depends on files and on who runs it
  bool operator==(const ShellWord&) const = default;
};

struct Redirection {
  enum class Kind : std::uint8_t { read, write, append, duplicate };  // duplicate: 2>&1
  Kind kind = Kind::write;
  int descriptor = 1;
  std::string target;  // a path as text, or the descriptor that is duplicated
  bool operator==(const Redirection&) const = default;
};

// How a command hangs on the one before it.
enum class Joint : std::uint8_t { then, pipe, if_done, if_failed };

struct SimpleCommand {
  std::vector<ShellWord> words;  // never empty; the first is not empty, does not vary, and is ASCII
  std::vector<Redirection> redirections;
  Joint joint = Joint::then;
  bool operator==(const SimpleCommand&) const = default;
};

struct Opaque {
  enum class Kind : std::uint8_t { unclear, too_long };
  Kind kind = Kind::unclear;
  std::string why;  // to follow "cannot be taken apart: "
  bool operator==(const Opaque&) const = default;
};

using ShellReading = std::expected<std::vector<SimpleCommand>, Opaque>;

inline constexpr std::size_t kMaxShellBytes = 8 * 1024;
inline constexpr std::size_t kMaxShellCommands = 50;

ShellReading read_shell(std::string_view command);

}  // namespace deputy
