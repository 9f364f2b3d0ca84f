#include "guard/programs.h"

#include <algorithm>

#include "guard/program_table.h"
#include "guard/script_texts.h"

namespace deputy {
namespace {

// More words than that are not looked through for a command among them.
constexpr std::size_t kMostCarried = 64;

bool is_option(const ShellWord& word) { return word.text.starts_with('-') || word.text.starts_with('+'); }
// A pattern that begins with one may become a file name such as -delete.
bool may_be_option(const ShellWord& word) {
  return is_option(word) ||
         (word.varies && !word.text.empty() && std::string_view("*?[").contains(word.text[0]));
}

bool is_long_option_like(std::string_view word, std::string_view option) {
  const std::string_view name = word.substr(0, word.find('='));
  return name.size() > 2 && (option.starts_with(name) || name == option);  // long options may be shortened
}

// A word such as -uo, or -o/path, holds the letter.
bool has_letter(std::string_view word, char letter) {
  return word.size() > 1 && word[0] == '-' && word[1] != '-' && word.contains(letter);
}

// -exec, or --exec: some programs take both.
bool is_named(std::string_view word, std::string_view option) {
  const std::string_view name = word.substr(0, word.find('='));
  return name == option || (option.starts_with('-') && name.starts_with("--") && name.substr(1) == option);
}

bool is_risky(const ShellWord& word, std::string_view option) {
  if (option == "=") return !is_option(word) && word.text.contains('=');
  if (option == "@") return word.text.starts_with('@');
  if (option.starts_with("--")) return word.text.starts_with("--") && is_long_option_like(word.text, option);
  if (option.size() == 2 && option[0] == '-') return has_letter(word.text, option[1]);
  return is_named(word.text, option);
}

bool has_risky(ShellWords words, std::string_view options) {
  for (std::size_t at = 0; at < options.size();) {
    const std::size_t end = std::min(options.find(' ', at), options.size());
    const std::string_view option = options.substr(at, end - at);
    if (std::ranges::any_of(words, [&](const ShellWord& word) { return is_risky(word, option); }))
      return true;
    at = end + 1;
  }
  return false;
}

bool has_risky_options(const ProgramEntry& entry) {
  return !entry.carries.empty() || !entry.runs.empty() || !entry.writes.empty();
}

bool is_stream(std::string_view path) {
  return path == "-" || path.starts_with("/dev/") || path.starts_with("/proc/");
}

bool asks_for_version(ShellWords words) {
  return words.size() == 2 &&
         (words[1].text == "--version" || words[1].text == "--help" || words[1].text == "-V");
}

// An interpreter that is given a file, or a module, and no code.
bool runs_a_file(ShellWords words, const ProgramEntry& entry) {
  if (words.size() < 2) return false;
  if (asks_for_version(words)) return true;
  if (words[1].text == "-m") return words.size() > 2 && !may_be_option(words[2]);
  if (entry.operands == 1 && words.size() > 2) return false;
  return !may_be_option(words[1]) && !is_stream(words[1].text);
}

bool looks_like_code(const ShellWord& word) {
  return word.text.find_first_of(" \t\n;|&<>$`()") != std::string::npos;
}

// "git" and its own options before the subcommand; the size of all words if there is none.
std::size_t git_subcommand(ShellWords words) {
  constexpr std::string_view kWithValue[] = {"-C",          "-c",           "--git-dir",    "--work-tree",
                                             "--namespace", "--config-env", "--attr-source"};
  std::size_t at = 1;
  while (at < words.size() && is_option(words[at])) {
    at += std::ranges::find(kWithValue, words[at].text) == std::end(kWithValue) ? 1 : 2;
  }
  return std::min(at, words.size());
}

bool has_any_letter(ShellWords words, std::string_view letters) {
  return std::ranges::any_of(words, [&](const ShellWord& word) {
    return std::ranges::any_of(letters, [&](char letter) { return has_letter(word.text, letter); });
  });
}

bool git_runs_hidden_code(ShellWords words) {
  const std::size_t at = git_subcommand(words);
  const bool is_configured = std::ranges::any_of(words.subspan(1, at - 1), [](const ShellWord& word) {
    return word.text.starts_with("-c") || word.text.starts_with("--e");
  });
  const bool has_transport =
      std::ranges::any_of(words, [](const ShellWord& word) { return word.text.contains("ext::"); });
  if (is_configured || has_transport) return true;
  if (at == words.size()) return false;
  const std::string_view subcommand = words[at].text;
  const ShellWords further = words.subspan(at + 1);
  const std::string_view running = git_running_word(subcommand);
  return is_git_runner(subcommand) || has_any_letter(further, git_running_letters(subcommand)) ||
         (!running.empty() && std::ranges::any_of(further, [&](const ShellWord& word) {
           return word.varies || word.text == running;
         }));
}

bool git_is_tame(ShellWords words, std::size_t covered) {
  constexpr std::string_view kHarmless[] = {"--no-pager", "--no-optional-locks", "--literal-pathspecs",
                                            "--version"};
  const std::size_t at = git_subcommand(words);
  for (std::size_t i = covered; i < at; ++i) {
    if (std::ranges::find(kHarmless, words[i].text) == std::end(kHarmless)) return false;
  }
  if (git_runs_hidden_code(words)) return false;
  if (at >= words.size()) return true;
  if (at >= covered && !is_plain_git_command(words[at].text)) return false;
  return !has_any_letter(words.subspan(std::min(std::max(at, covered), words.size())),
                         git_writing_letters(words[at].text));
}

bool interpreter_is_tame(ShellWords words, std::size_t covered, const ProgramEntry& entry) {
  if (words.size() < 2 || !is_option(words[1])) return runs_a_file(words, entry);
  if (words[1].text == "-m") return covered >= 3 || asks_for_version(words);
  // Options that the rule does not give could be code.
  return asks_for_version(words) ||
         (covered >= 2 &&
          std::ranges::none_of(words.subspan(std::min(covered, words.size())), may_be_option));
}

bool script_is_tame(std::string_view program, ShellWords words) {
  if (program == "sed" || program == "gsed") return is_tame_sed(words);
  if (program == "awk" || program == "gawk" || program == "mawk" || program == "nawk")
    return is_tame_awk(words);
  return true;
}

// Where the command of a wrapper or carrier begins, if no option makes that hard to tell.
std::optional<std::size_t> inner_command(ShellWords words, const ProgramEntry& entry) {
  if (entry.operands < 0) return std::nullopt;
  const auto at = static_cast<std::size_t>(entry.operands) + 1;
  if (words.size() <= at) return std::nullopt;
  const bool is_plain = std::ranges::none_of(words.subspan(1, at), [](const ShellWord& word) {
    return may_be_option(word) || word.varies || word.text.contains('=') || word.text.empty();
  });
  return is_plain ? std::optional(at) : std::nullopt;
}

bool runs_code_itself(ShellWords words) {
  const std::string_view program = program_of(words[0]);
  const ProgramEntry& entry = entry_of(program);
  switch (entry.kind) {
    case ProgramKind::shell:
      return true;
    case ProgramKind::interpreter:
      return !runs_a_file(words, entry);
    case ProgramKind::carrier:
      // Some read commands from their input where their words hold none.
      if (entry.operands < 0 && (words.size() <= 2 || std::ranges::any_of(words.subspan(1), looks_like_code)))
        return true;
      break;
    case ProgramKind::wrapper:
    case ProgramKind::plain:
      break;
  }
  if (program == "git" && git_runs_hidden_code(words)) return true;
  return has_risky(words.subspan(1), entry.runs) || !script_is_tame(program, words);
}

// Nothing but the shell can run what is part of it.
bool can_carry(std::string_view program, const ShellWord& command) {
  return program == "command" || program == "builtin" ||
         entry_of(program_of(command)).kind != ProgramKind::shell;
}

}  // namespace

std::string_view program_of(std::string_view text) {
  const std::size_t end = text.find_last_not_of('/');
  if (end == std::string_view::npos) return text;
  const std::string_view path = text.substr(0, end + 1);
  return path.substr(path.rfind('/') + 1);  // npos + 1 is 0
}

bool carries_command(ShellWords words) {
  const ProgramEntry& entry = entry_of(program_of(words[0]));
  const ShellWords further = words.subspan(1);
  if (entry.kind == ProgramKind::plain)
    return has_risky(further, entry.carries) || has_risky(further, entry.runs);
  return entry.kind != ProgramKind::interpreter;
}

std::optional<std::size_t> wrapped_command(ShellWords words) {
  const ProgramEntry& entry = entry_of(program_of(words[0]));
  return entry.kind == ProgramKind::wrapper ? inner_command(words, entry) : std::nullopt;
}

bool runs_hidden_code(ShellWords words) {
  if (runs_code_itself(words)) return true;
  if (!carries_command(words)) return false;
  if (words.size() > kMostCarried) return true;
  for (std::size_t at = 1; at < words.size(); ++at) {
    if (can_carry(program_of(words[0]), words[at]) && runs_code_itself(words.subspan(at))) return true;
  }
  return false;
}

bool is_tame(ShellWords words, std::size_t covered) {
  const std::string_view program = program_of(words[0]);
  const ProgramEntry& entry = entry_of(program);
  const ShellWords further = words.subspan(std::min(covered, words.size()));
  switch (entry.kind) {
    case ProgramKind::shell:
      return false;
    case ProgramKind::interpreter:
      return interpreter_is_tame(words, covered, entry);
    case ProgramKind::wrapper:
    case ProgramKind::carrier: {
      const auto inner = inner_command(words, entry);
      return inner && covered > *inner && is_tame(words.subspan(*inner), covered - *inner) &&
             !(program == "xargs" && has_risky_options(entry_of(program_of(words[*inner]))));
    }
    case ProgramKind::plain:
      break;
  }
  if (program == "git" && !git_is_tame(words, covered)) return false;
  // A file may have the name of an option.
  if (has_risky_options(entry) && std::ranges::any_of(further, [](const ShellWord& word) {
        return word.varies && may_be_option(word);
      })) {
    return false;
  }
  return !has_risky(further, entry.carries) && !has_risky(further, entry.runs) &&
         !has_risky(further, entry.writes) && script_is_tame(program, words);
}

std::optional<std::string> file_that_runs(ShellWords words) {
  if (words[0].text.contains('/')) return words[0].text;
  if (const auto inner = wrapped_command(words)) return file_that_runs(words.subspan(*inner));
  const ProgramEntry& entry = entry_of(program_of(words[0]));
  const bool is_read = words[0].text == "." || words[0].text == "source";
  const bool is_given_file =
      words.size() > 1 && !is_option(words[1]) &&
      (is_read || (entry.kind == ProgramKind::interpreter && runs_a_file(words, entry)));
  return is_given_file ? std::optional(words[1].text) : std::nullopt;
}

bool keeps_words_to_itself(const ShellWord& word) {
  const std::string_view program = program_of(word);
  return entry_of(program).kind != ProgramKind::plain || is_well_known(program);
}

bool changes_folder(ShellWords words) {
  constexpr std::string_view kNames[] = {"cd", "pushd", "popd", "command", "builtin"};
  return std::ranges::find(kNames, words[0].text) != std::end(kNames);
}

bool only_reads(ShellWords words) {
  constexpr std::string_view kReaders[] = {
      "cat",  "ls",       "head",     "tail",     "grep",    "egrep",  "fgrep",     "rg",  "wc",  "stat",
      "file", "diff",     "du",       "tree",     "echo",    "test",   "[",         "pwd", "cmp", "nl",
      "od",   "realpath", "readlink", "basename", "dirname", "md5sum", "sha256sum", "cut", "find"};
  return std::ranges::find(kReaders, words[0].text) != std::end(kReaders) && is_tame(words, 1);
}

}  // namespace deputy
