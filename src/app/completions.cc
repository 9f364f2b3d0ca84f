// Completions: each shell learns, for every command, the words that can follow.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "app/command_tree.h"

namespace deputy {
namespace {

struct Known {
  std::string path;  // "sessions ls"; empty for the program itself
  const CommandTree* command = nullptr;
};

void add_all(const CommandTree& command, const std::string& path, std::vector<Known>& all) {
  all.push_back({path, &command});
  for (const auto& each : command.commands)
    add_all(each, path.empty() ? each.name : path + " " + each.name, all);
}

std::vector<Known> all_of(const CommandTree& program) {
  std::vector<Known> all;
  add_all(program, "", all);
  return all;
}

bool names_files(const CommandOption& option) {
  return option.kind.contains("DIR") || option.kind.contains("FILE") || option.kind.contains("PATH");
}

enum class Value { any, file };

// Every option that takes such a value, so that the word behind it is not taken for a command.
std::vector<std::string> that_take(Value value, const CommandTree& program) {
  std::vector<std::string> names;
  for (const auto& known : all_of(program)) {
    for (const auto& option : known.command->options) {
      if (option.kind.empty() || (value == Value::file && !names_files(option))) continue;
      names.insert(names.end(), option.names.begin(), option.names.end());
    }
  }
  std::ranges::sort(names);
  const auto same = std::ranges::unique(names);
  names.erase(same.begin(), same.end());
  return names;
}

std::vector<std::string> words_for(const CommandTree& program, const CommandTree& command) {
  std::vector<std::string> words;
  for (const auto& each : command.commands) words.push_back(each.name);
  for (const auto& argument : command.arguments)
    words.insert(words.end(), argument.choices.begin(), argument.choices.end());
  for (const auto* from : {&command, &program}) {
    for (const auto& option : from->options)
      words.insert(words.end(), option.names.begin(), option.names.end());
    if (&command == &program) break;
  }
  return words;
}

// "--color) WORDS ;;" for every option whose values are known, in a shell's case.
std::string cases_of_choices(const CommandTree& program, std::string_view before, std::string_view after) {
  std::map<std::string, std::vector<std::string>> choices;
  for (const auto& known : all_of(program)) {
    for (const auto& option : known.command->options) {
      for (const auto& name : option.names) {
        if (!option.choices.empty()) choices[name] = option.choices;
      }
    }
  }
  std::string cases;
  for (const auto& [name, words] : choices)
    cases += fmt::format("    {}) {}{}{}; return ;;\n", name, before, fmt::join(words, " "), after);
  return cases;
}

std::string quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

}  // namespace

std::string bash_completions(const CommandTree& program) {
  std::string cases;
  for (const auto& [path, command] : all_of(program)) {
    cases += fmt::format("    {}) words={} ;;\n", quoted(path),
                         quoted(fmt::format("{}", fmt::join(words_for(program, *command), " "))));
  }
  std::vector<std::string> paths;
  for (const auto& known : all_of(program)) {
    if (!known.path.empty()) paths.push_back(quoted(known.path));
  }
  return fmt::format(
      R"(# deputy completions for bash: put this into ~/.local/share/bash-completion/completions/deputy
_deputy() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} before='' path='' words='' word at
  for ((at = 1; at < COMP_CWORD; at++)); do
    word=${{COMP_WORDS[at]}}
    case "$before" in
      {0}) before=''; continue ;;
    esac
    before=$word
    [[ $word == -* ]] && continue
    case "${{path:+$path }}$word" in
      {1}) path="${{path:+$path }}$word" ;;
    esac
  done
  case "$before" in
{4}    {2}) COMPREPLY=($(compgen -f -- "$current")); return ;;
    {0}) return ;;
  esac
  case "$path" in
{3}  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}}
complete -o filenames -F _deputy deputy
)",
      fmt::join(that_take(Value::any, program), "|"), fmt::join(paths, "|"),
      fmt::join(that_take(Value::file, program), "|"), cases,
      cases_of_choices(program, "COMPREPLY=($(compgen -W '", "' -- \"$current\"))"));
}

std::string zsh_completions(const CommandTree& program) {
  std::string cases;
  std::vector<std::string> paths;
  for (const auto& [path, command] : all_of(program)) {
    if (!path.empty()) paths.push_back(quoted(path));
    std::string entries;
    const auto add = [&entries](std::string name, std::string_view about) {
      for (std::size_t at = name.find(':'); at != std::string::npos; at = name.find(':', at + 2))
        name.insert(at, "\\");
      entries += fmt::format(" {}", quoted(fmt::format("{}:{}", name, about)));
    };
    for (const auto& each : command->commands) add(each.name, each.about);
    for (const auto& argument : command->arguments) {
      for (const auto& choice : argument.choices) add(choice, argument.names.back());
    }
    for (const auto& option : command->options) {
      for (const auto& name : option.names) add(name, option.about);
    }
    if (command != &program) {
      for (const auto& option : program.options) add(option.names.back(), option.about);
    }
    cases += fmt::format("    {}) entries=({}) ;;\n", quoted(path), entries);
  }
  return fmt::format(R"(#compdef deputy
# deputy completions for zsh: put this into a folder of $fpath as _deputy
_deputy() {{
  local before='' path_so_far='' word
  local -a entries
  for word in "${{(@)words[2,CURRENT-1]}}"; do
    case "$before" in
      {0}) before=''; continue ;;
    esac
    before=$word
    [[ $word == -* ]] && continue
    case "${{path_so_far:+$path_so_far }}$word" in
      {1}) path_so_far="${{path_so_far:+$path_so_far }}$word" ;;
    esac
  done
  case "$before" in
{4}    {2}) _files; return ;;
    {0}) return ;;
  esac
  case "$path_so_far" in
{3}  esac
  _describe 'deputy' entries
}}
)",
                     fmt::join(that_take(Value::any, program), "|"), fmt::join(paths, "|"),
                     fmt::join(that_take(Value::file, program), "|"), cases,
                     cases_of_choices(program, "compadd -- ", ""));
}

std::string fish_completions(const CommandTree& program) {
  std::string text =
      "# deputy completions for fish: put this into ~/.config/fish/completions/deputy.fish\ncomplete -c "
      "deputy -f\n";
  const auto add_options = [&text](const CommandTree& command, const std::string& condition) {
    for (const auto& option : command.options) {
      std::string line = "complete -c deputy";
      if (!condition.empty()) line += fmt::format(" -n {}", quoted(condition));
      for (const auto& name : option.names)
        line += name.starts_with("--") ? fmt::format(" -l {}", name.substr(2))
                                       : fmt::format(" -s {}", name.substr(1));
      if (!option.kind.empty()) line += names_files(option) ? " -r -F" : " -x";
      if (!option.choices.empty())
        line += fmt::format(" -a {}", quoted(fmt::format("{}", fmt::join(option.choices, " "))));
      text += fmt::format("{} -d {}\n", line, quoted(option.about));
    }
    for (const auto& argument : command.arguments) {
      if (argument.choices.empty()) continue;
      text += fmt::format("complete -c deputy -n {} -a {}\n", quoted(condition),
                          quoted(fmt::format("{}", fmt::join(argument.choices, " "))));
    }
  };
  add_options(program, "");
  for (const auto& command : program.commands) {
    text += fmt::format("complete -c deputy -n __fish_use_subcommand -a {} -d {}\n", command.name,
                        quoted(command.about));
    const std::string within = "__fish_seen_subcommand_from " + command.name;
    add_options(command, within);
    std::vector<std::string> names;
    for (const auto& each : command.commands) names.push_back(each.name);
    for (const auto& each : command.commands) {
      text += fmt::format(
          "complete -c deputy -n {} -a {} -d {}\n",
          quoted(fmt::format("{}; and not __fish_seen_subcommand_from {}", within, fmt::join(names, " "))),
          each.name, quoted(each.about));
      add_options(each, fmt::format("{}; and __fish_seen_subcommand_from {}", within, each.name));
    }
  }
  return text;
}

}  // namespace deputy
