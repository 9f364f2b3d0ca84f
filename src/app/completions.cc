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
  return option.kind.contains("DIR") || option.kind.contains("FILE") || option.kind.contains("PATH") ||
         option.names.back() == "file";
}

// Every option for which that holds.
template <class Holds>
std::vector<std::string> options_that(const CommandTree& program, Holds holds) {
  std::vector<std::string> names;
  for (const auto& known : all_of(program)) {
    for (const auto& option : known.command->options) {
      if (holds(option)) names.insert(names.end(), option.names.begin(), option.names.end());
    }
  }
  std::ranges::sort(names);
  const auto same = std::ranges::unique(names);
  names.erase(same.begin(), same.end());
  return names;
}

// So that the word behind it is not taken for a command.
bool takes_value(const CommandOption& option) { return !option.kind.empty(); }

// Those of the command, then those of every command that it has not itself.
std::vector<CommandOption> options_for(const CommandTree& program, const CommandTree& command) {
  std::vector<CommandOption> options = command.options;
  if (&command == &program) return options;
  for (const auto& option : program.options) {
    const auto same = [&option](const CommandOption& own) { return own.names.back() == option.names.back(); };
    if (std::ranges::none_of(command.options, same)) options.push_back(option);
  }
  return options;
}

std::vector<std::string> words_for(const CommandTree& program, const CommandTree& command) {
  std::vector<std::string> words;
  for (const auto& each : command.commands) words.push_back(each.name);
  for (const auto& option : options_for(program, command))
    words.insert(words.end(), option.names.begin(), option.names.end());
  return words;
}

// What a shell does where the first argument of a command is typed: offer the words that there are, files, or
// the names that `deputy complete` tells.
std::string first_argument(const CommandTree& command, std::string_view offer_words) {
  if (command.arguments.empty()) return {};
  const CommandOption& first = command.arguments.front();
  if (!first.names_of.empty()) return fmt::format("; ((count)) || asked={}", first.names_of);
  if (names_files(first)) return "; ((count)) || asked=files";
  if (first.choices.empty()) return {};
  return fmt::format("; ((count)) || {}",
                     fmt::format(fmt::runtime(offer_words), fmt::join(first.choices, " ")));
}

// "--model) asked=models ;;" for every kind of names.
std::string cases_of_names(const CommandTree& program) {
  std::string cases;
  for (const std::string_view kind : {"sessions", "agents", "models"}) {
    const auto names =
        options_that(program, [kind](const CommandOption& option) { return option.names_of == kind; });
    if (!names.empty()) cases += fmt::format("    {}) asked={} ;;\n", fmt::join(names, "|"), kind);
  }
  return cases;
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
  std::vector<std::string> paths;
  for (const auto& [path, command] : all_of(program)) {
    if (!path.empty()) paths.push_back(quoted(path));
    cases += fmt::format("        {}) words={}{} ;;\n", quoted(path),
                         quoted(fmt::format("{}", fmt::join(words_for(program, *command), " "))),
                         first_argument(*command, "words+=' {}'"));
  }
  return fmt::format(
      R"(# deputy completions for bash: put this into ~/.bashrc
_deputy() {{
  local current before='' path='' words='' asked='' word at count=0 last=-1 line=${{COMP_LINE-}} gap
  local parted=''  # what bash leaves as it stands: up to the last colon
  local -a given=() typed=()
  # bash parts words at their colons, which models have in their names, and at the = of an option
  for ((at = 0; at <= COMP_CWORD; at++)); do
    word=${{COMP_WORDS[at]}}
    gap=${{line%%[![:space:]]*}}
    line=${{line#"$gap"}}
    line=${{line#"$word"}}
    if ((last >= 0)) && [[ -z $gap && $word == = && ${{typed[last]}} == --* ]]; then
      typed[++last]=''
    elif ((last >= 0)) && [[ -z $gap && ($word == :* || ${{typed[last]}} == *: || -z ${{typed[last]}}) ]]; then
      typed[last]+=$word
    else
      typed[++last]=$word
    fi
  done
  current=${{typed[last]}}
  for ((at = 1; at < last; at++)); do
    word=${{typed[at]}}
    case "$before" in
      --config|--cwd|--home) given+=("$before" "${{word/#\~\//$HOME/}}"); before=''; continue ;;
      {0}) before=''; continue ;;
    esac
    before=$word
    [[ $word == -* ]] && continue
    case "${{path:+$path }}$word" in
      {1}) path="${{path:+$path }}$word" ;;
      *) count=$((count + 1)) ;;
    esac
  done
  COMPREPLY=()
  case "$before" in
{4}{5}    {2}) COMPREPLY=($(compgen -f -- "$current")); return ;;
    {0}) return ;;
    *)
      case "$path" in
{3}      esac
      [[ $current == -* ]] && asked=''
      ;;
  esac
  case "$asked" in
    '')
      # options only once one is begun: a dash is all that they share
      for word in $(compgen -W "$words" -- "$current"); do
        [[ $word == -* && $current != -* ]] || COMPREPLY+=("$word")
      done
      ;;
    files) COMPREPLY=($(compgen -f -- "$current")) ;;
    *)
      compopt +o filenames 2>/dev/null  # which would put a backslash before a colon
      [[ $COMP_WORDBREAKS == *:* ]] && parted=${{current%"${{current##*:}}"}}
      while IFS=$'\t' read -r word at; do
        [[ $word == "$current"* ]] && COMPREPLY+=("${{word#"$parted"}}")
      done < <("${{COMP_WORDS[0]/#\~\//$HOME/}}" complete "$asked" "${{given[@]}}" 2>/dev/null </dev/null)
      ;;
  esac
}}
complete -o filenames -F _deputy deputy
)",
      fmt::join(options_that(program, takes_value), "|"), fmt::join(paths, "|"),
      fmt::join(options_that(program, names_files), "|"), cases,
      cases_of_choices(program, "COMPREPLY=($(compgen -W '", "' -- \"$current\"))"), cases_of_names(program));
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
    for (const auto& option : options_for(program, *command)) {
      for (const auto& name : option.names) add(name, option.about);
    }
    cases += fmt::format("        {}) entries=({}){} ;;\n", quoted(path), entries,
                         first_argument(*command, "entries+=({})"));
  }
  return fmt::format(R"(#compdef deputy
# deputy completions for zsh: put this into a folder of $fpath as _deputy, or into ~/.zshrc below compinit
_deputy() {{
  local before='' path_so_far='' asked='' word
  local -i count=0
  local -a entries given
  for word in "${{(@)words[2,CURRENT-1]}}"; do
    case "$before" in
      --config|--cwd|--home) given+=("$before" "${{word/#\~\//$HOME/}}"); before=''; continue ;;
      {0}) before=''; continue ;;
    esac
    before=$word
    [[ $word == -* ]] && continue
    case "${{path_so_far:+$path_so_far }}$word" in
      {1}) path_so_far="${{path_so_far:+$path_so_far }}$word" ;;
      *) count=$((count + 1)) ;;
    esac
  done
  word=${{words[CURRENT]}}
  if [[ $word == --*=* ]]; then
    before=${{word%%=*}}
    compset -P 1 '*='
  fi
  case "$before" in
{4}{5}    {2}) _files; return ;;
    {0}) return ;;
    *)
      case "$path_so_far" in
{3}      esac
      # options only once one is begun: a dash is all that they share
      if [[ $word == -* ]]; then asked=''; else entries=("${{(@)entries:#-*}}"); fi
      ;;
  esac
  case "$asked" in
    '') ;;
    files) _files; return ;;
    *)
      entries=("${{(@f)$("${{words[1]/#\~\//$HOME/}}" complete $asked "${{given[@]}}" 2>/dev/null </dev/null)}}")
      entries=("${{(@)entries//:/\\:}}")
      entries=("${{(@)entries/$'\t'/:}}")
      ;;
  esac
  _describe 'deputy' entries
}}
if [[ $funcstack[1] == _deputy ]]; then
  _deputy "$@"  # zsh has loaded this to complete something
elif (( $+functions[compdef] )); then
  compdef _deputy deputy
else
  print -u2 -r -- 'deputy: zsh completes nothing yet; put `autoload -Uz compinit && compinit` before this'
fi
)",
                     fmt::join(options_that(program, takes_value), "|"), fmt::join(paths, "|"),
                     fmt::join(options_that(program, names_files), "|"), cases,
                     cases_of_choices(program, "compadd -- ", ""), cases_of_names(program));
}

namespace {

constexpr std::string_view kFishAsks =
    R"(# deputy completions for fish: put this into ~/.config/fish/completions/deputy.fish
function __deputy_names
    set -l words (commandline -opc)
    set -l given
    for at in (seq 2 (math (count $words) - 1))
        switch $words[$at]
            case --config --cwd --home
                set -a given $words[$at] $words[(math $at + 1)]
        end
    end
    command $words[1] complete $argv[1] $given 2>/dev/null </dev/null
end
complete -c deputy -f
)";

// What follows -a, where something is known of the values.
std::string fish_offers(const CommandOption& option) {
  if (!option.names_of.empty()) return fmt::format(" -a '(__deputy_names {})'", option.names_of);
  if (option.choices.empty()) return {};
  return fmt::format(" -a {}", quoted(fmt::format("{}", fmt::join(option.choices, " "))));
}

std::string fish_option(const CommandOption& option) {
  std::string line;
  for (const auto& name : option.names)
    line += name.starts_with("--") ? fmt::format(" -l {}", name.substr(2))
                                   : fmt::format(" -s {}", name.substr(1));
  if (takes_value(option)) line += names_files(option) ? " -r -F" : " -x";
  return fmt::format("{}{} -d {}\n", line, fish_offers(option), quoted(option.about));
}

// Those that every command has are told once.
std::string fish_words(const CommandTree& program, const CommandTree& command, const std::string& condition) {
  const std::string begin = fmt::format("complete -c deputy -n {}", quoted(condition));
  std::string text;
  for (const auto& option : command.options) {
    const auto same = [&option](const CommandOption& other) {
      return other.names.back() == option.names.back();
    };
    if (std::ranges::none_of(program.options, same)) text += begin + fish_option(option);
  }
  if (command.arguments.empty()) return text;
  const CommandOption& first = command.arguments.front();
  const std::string offers = names_files(first) ? " -F" : fish_offers(first);
  return offers.empty() ? text : text + begin + offers + "\n";
}

}  // namespace

std::string fish_completions(const CommandTree& program) {
  std::string text(kFishAsks);
  for (const auto& option : program.options) text += "complete -c deputy" + fish_option(option);
  for (const auto& command : program.commands) {
    text += fmt::format("complete -c deputy -n __fish_use_subcommand -a {} -d {}\n", command.name,
                        quoted(command.about));
    const std::string within = "__fish_seen_subcommand_from " + command.name;
    text += fish_words(program, command, within);
    std::vector<std::string> names;
    for (const auto& each : command.commands) names.push_back(each.name);
    for (const auto& each : command.commands) {
      text += fmt::format(
          "complete -c deputy -n {} -a {} -d {}\n",
          quoted(fmt::format("{}; and not __fish_seen_subcommand_from {}", within, fmt::join(names, " "))),
          each.name, quoted(each.about));
      text +=
          fish_words(program, each, fmt::format("{}; and __fish_seen_subcommand_from {}", within, each.name));
    }
  }
  return text;
}

}  // namespace deputy
