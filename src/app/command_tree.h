// The commands of the program as its parser knows them: for completions and the manual, which so cannot say
// anything else.
#pragma once

#include <string>
#include <vector>

namespace deputy {

struct CommandOption {
  std::vector<std::string> names;  // "--model", "-v"; of an argument its name alone
  std::string kind;                // "DIR"; empty where it takes no value
  std::string about;
  std::vector<std::string> choices = {};  // all that it may be, where that is known
  std::string names_of = {};              // what `deputy complete` is asked, where it is a name of those
};

struct CommandTree {
  std::string name;
  std::string about;
  std::string example;
  std::vector<CommandOption> options;
  std::vector<CommandOption> arguments;
  std::vector<CommandTree> commands;
};

CommandTree command_tree();

// Completions for a shell, and the page for man(1).
std::string bash_completions(const CommandTree& program);
std::string zsh_completions(const CommandTree& program);
std::string fish_completions(const CommandTree& program);
std::string manual_page(const CommandTree& program);

}  // namespace deputy
