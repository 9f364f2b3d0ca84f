// The pattern of a rule about commands, by words: `npm test` means exactly that command, `git status:*` (or
// `git status *`) whatever begins with these words, `python*` whatever begins with these letters. Of the last
// it is never sure, so it can only forbid. It says yes of a command that does no more than the
// rule's words promise: an option that makes the program run or write something else, or code for an
// interpreter, is meant only where the rule gives it. `timeout 9 npm test` and the like are seen through. It
// says maybe wherever the program may be run in some other way: by another path, behind sudo, env, xargs or
// find -exec, with other options or further words, or by code that cannot be looked into. Of a program that
// nobody knows it says named where one of its words is the program that is meant.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "guard/paths.h"
#include "guard/programs.h"
#include "guard/rule_match.h"
#include "guard/shell.h"

namespace deputy {

// One command of a chain, and what is asked about it again and again.
struct CommandSubject {
  SimpleCommand command;
  bool is_fed = false;           // by a command or a file
  bool hides_code = false;       // runs what its words do not show
  bool is_moved = false;         // by a cd before it: a relative path is another
  bool names_protected = false;  // and may do more than read it
};
std::vector<CommandSubject> subjects_of(std::vector<SimpleCommand> commands, const Roots& roots);

class CommandPattern {
 public:
  static constexpr std::size_t kMaxBytes = 4096;

  static Result<CommandPattern> compile(std::string_view text);
  // `python*`: its star stands for the rest of a word.
  static bool ends_within_word(std::string_view text);

  RuleMatch match(const CommandSubject& subject) const;

 private:
  bool gives(ShellWords words, const CommandSubject& subject) const;
  bool is_meant_among(ShellWords words, std::size_t views) const;
  bool may_mean(ShellWords words) const;
  bool may_mean_script(ShellWords words) const;
  bool may_become(ShellWords words) const;
  bool may_become_behind(ShellWords words) const;
  bool may_be_program(const ShellWord& word) const;
  bool may_have_words(ShellWords further) const;
  bool is_program(std::string_view path) const;
  bool is_named_in(ShellWords words) const;
  bool is_named_in_text(std::string_view text) const;

  std::vector<ShellWord> words_;
  std::string program_;  // that of the first, in lower case
  bool is_prefix_ = false;
  bool ends_within_word_ = false;
};

}  // namespace deputy
