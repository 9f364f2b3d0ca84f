// The words of a command line as they were typed, told apart: which command, which options. What they mean is
// for arguments.cc to say. The library that takes them apart is known to command_words.cc alone.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "app/arguments.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace deputy {

// An option's value. An empty one counts as given.
struct Typed {
  std::string text;
  const CLI::Option* option = nullptr;
  std::optional<std::string> value() const;
  std::string name() const;  // the option's
};

struct Words {
  std::shared_ptr<CLI::App> known;  // what the options are of
  std::string command;              // empty: none
  Typed model, cwd, home, config, output, colour;
  Typed max_depth, max_delegations, max_children, max_live;
  Typed max_steps, max_tokens, max_cost, timeout;
  std::vector<std::string> allow, ask, deny;
  bool yes = false, plain = false, verbose = false;
  Typed prompt, resumed, chat_resume;
  std::vector<std::string> tasks, context;
  Typed file, concurrency, layout, max_output_tokens;
  SessionsArguments sessions;
  Typed pruned, older_than;
  Typed task_prompt, task_timeout, task_resume;
  std::string task_agent;
  bool task_background = false;
  AgentsArguments agents;
  Typed checked;
  Typed shell, completed;
  Typed bundled, replayed;
};

// A text is all there is to show where help or the version was asked for.
Result<std::variant<Words, TextArguments>> told_apart(std::span<const std::string> words);

}  // namespace deputy
