#include "guard/programs.h"

#include <algorithm>

#include "base/text.h"
#include "guard/git_words.h"
#include "guard/interpreter_words.h"
#include "guard/option_words.h"
#include "guard/program_table.h"
#include "guard/script_texts.h"

namespace deputy {
namespace {

// More words than that are not looked through for a command among them.
constexpr std::size_t kMostCarried = 64;

bool is_long_option_like(std::string_view word, std::string_view option) {
  const std::string_view name = word.substr(0, word.find('='));
  return name.size() > 2 && (option.starts_with(name) || name == option);  // long options may be shortened
}

// -exec, or --exec: some programs take both.
bool is_named(std::string_view word, std::string_view option) {
  const std::string_view name = word.substr(0, word.find('='));
  return name == option || (option.starts_with('-') && name.starts_with("--") && name.substr(1) == option);
}

bool is_risky(const ShellWord& word, std::string_view option) {
  if (option == "=") return !is_option(word) && word.text.contains('=');
  if (option == "@") return word.text.starts_with('@');
  if (option.ends_with('*')) return word.text.starts_with(option.substr(0, option.size() - 1));
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
  return !entry.carries.empty() || !entry.runs.empty() || !entry.writes.empty() || entry.written_operand > 0;
}

// Whether an option from this word on makes it do so.
bool is_made_to(ShellWords words, std::size_t from, const ProgramEntry& entry, std::string_view options) {
  if (has_risky(words.subspan(std::min(from, words.size())), options)) return true;
  if (!entry.takes_letters || from > 1 || words.size() < 2 || is_option(words[1])) return false;
  const ShellWord letters{"-" + words[1].text};
  return words[1].varies || has_risky({&letters, 1}, options);
}

// Some write the file that they are given after those that they read.
bool writes_operand(ShellWords words, std::size_t covered, const ProgramEntry& entry) {
  int operands = 0;
  bool takes_options = true;
  for (std::size_t at = 1; entry.written_operand > 0 && at < words.size(); ++at) {
    const std::string_view text = words[at].text;
    if (takes_options && text.size() > 1 && text[0] == '-') {
      takes_options = text != "--";
      if (text.size() == 2 && entry.with_values.contains(text[1])) ++at;
      continue;
    }
    takes_options = false;  // some take none after the first file
    const bool may_be_many = words[at].varies && text.find_first_of("*?[") != std::string_view::npos;
    operands += may_be_many ? entry.written_operand : 1;
    if (operands >= entry.written_operand && at >= covered) return true;
  }
  return false;
}

// curl -w '%output{…}' writes a file; what it prints may also be read from one. --expand-output and the like
// are its other options by another name.
bool has_writing_format(ShellWords words) {
  for (std::size_t at = 0; at < words.size(); ++at) {
    const std::string_view text = words[at].text;
    if (text.contains("%output{") || text.starts_with("--expand-")) return true;
    if (!has_letter(text, 'w') && !(text.starts_with("--") && is_long_option_like(text, "--write-out")))
      continue;
    if (text.contains('@') || (at + 1 < words.size() && words[at + 1].text.starts_with('@'))) return true;
  }
  return false;
}

bool looks_like_code(const ShellWord& word) {
  return word.text.find_first_of(" \t\n;|&<>$`()") != std::string::npos;
}

bool is_sed(std::string_view program) { return program == "sed" || program == "gsed"; }

bool script_is_tame(std::string_view program, ShellWords words) {
  if (is_sed(program)) return is_tame_sed(words);
  constexpr std::string_view kAwks[] = {"awk", "gawk", "mawk", "nawk", "original-awk"};
  if (std::ranges::find(kAwks, program) != std::end(kAwks)) return is_tame_awk(words);
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

// env PAGER='rm x' man ls: a variable may be code, or lead to it, as one may that the shell sets.
bool sets_variable(ShellWords words) {
  for (std::size_t at = 1; at < words.size(); ++at) {
    if (is_option(words[at])) continue;
    if (words[at].text.contains('=')) return true;
    if (!is_option(words[at - 1])) return false;
  }
  return false;
}

// What xargs adds to its words may make it run or write something.
bool is_open_to_more_words(std::string_view program) {
  const ProgramEntry& entry = entry_of(program);
  return entry.kind == ProgramKind::wrapper || entry.kind == ProgramKind::carrier ||
         has_risky_options(entry) || is_sed(program);
}

// Whether the next word may be the value of this option of xargs.
bool may_take_next_word(std::string_view option) {
  return option.starts_with("--") ? !option.contains('=')
                                  : std::string_view("adEIJLnPRsS").contains(option.back());
}

// What a piece of its input stands for, if this option of xargs says so: -I{}, -i, --replace=X.
std::string_view replaced_by(std::string_view option) {
  constexpr std::string_view kUsual = "{}";
  if (option.starts_with("--rep")) return option.contains('=') ? option.substr(option.find('=') + 1) : kUsual;
  const std::size_t at = option.starts_with("--") ? std::string_view::npos : option.find_first_of("IJi");
  if (at == std::string_view::npos) return {};
  return at + 1 < option.size() ? option.substr(at + 1) : kUsual;
}

// Whether what xargs reads is, or decides, what it runs.
bool xargs_runs_its_input(ShellWords words) {
  std::string_view replaced;
  for (std::size_t at = 1; at < words.size(); ++at) {
    const std::string_view text = words[at].text;
    const std::string_view before = words[at - 1].text;
    if (is_option(words[at])) {
      if (const auto found = replaced_by(text); !found.empty()) replaced = found;
      continue;
    }
    const bool may_be_value = is_option(words[at - 1]) && may_take_next_word(before);
    if (may_be_value && (before.ends_with('I') || before.ends_with('J'))) {
      replaced = text;
      continue;
    }
    if (is_open_to_more_words(program_of(text))) return true;
    if (!replaced.empty() && text.contains(replaced)) return true;
    if (!may_be_value) return false;
  }
  return false;
}

// find -exec {}: what it finds is what it runs.
bool runs_what_it_finds(ShellWords words, const ProgramEntry& entry) {
  const auto holds_place = [](const ShellWord& word) { return word.text.contains('{'); };
  for (std::size_t at = 1; !entry.carries.empty() && at < words.size(); ++at) {
    if (!has_risky(words.subspan(at, 1), entry.carries)) continue;
    if (holds_place(words[at])) return true;
    if (at + 1 == words.size()) break;
    const ProgramKind kind = entry_of(program_of(words[at + 1])).kind;
    const bool carries_on = kind == ProgramKind::wrapper || kind == ProgramKind::carrier;
    if (holds_place(words[at + 1]) ||
        (carries_on && std::ranges::any_of(words.subspan(at + 1), holds_place))) {
      return true;
    }
  }
  return false;
}

bool runs_code_itself(ShellWords words, bool is_fed) {
  const std::string_view program = program_of(words[0]);
  const ProgramEntry& entry = entry_of(program);
  switch (entry.kind) {
    case ProgramKind::shell:
      return true;
    case ProgramKind::interpreter:
      return !runs_a_file(words, entry, is_fed);
    case ProgramKind::carrier:
      // Some read commands from their input where their words hold none.
      if (is_fed && (entry.operands < 0 || entry.is_shell_if_bare)) return true;
      if (program == "xargs" && xargs_runs_its_input(words)) return true;
      if ((program == "env" || program == "sudo") && sets_variable(words)) return true;
      if (entry.operands < 0 && (words.size() <= 2 || std::ranges::any_of(words.subspan(1), looks_like_code)))
        return true;
      break;
    case ProgramKind::wrapper:
    case ProgramKind::plain:
      break;
  }
  if (program == "git" && (git_runs_hidden_code(words) || git_may_run_anything(words))) return true;
  if ((running_subcommand(words, entry) || has_risky(words.subspan(1), entry.texts)) &&
      std::ranges::any_of(words.subspan(1), looks_like_code)) {
    return true;
  }
  return runs_what_it_finds(words, entry) || is_made_to(words, 1, entry, entry.runs) ||
         !script_is_tame(program, words);
}

// Nothing but the shell can run what is part of it.
bool can_carry(std::string_view program, const ShellWord& command) {
  return program == "command" || program == "builtin" ||
         entry_of(program_of(command)).kind != ProgramKind::shell;
}

// It, and what it carries or may carry.
void for_each_command_in(ShellWords words, const auto& act) {
  while (const auto inner = carried_command(words)) {
    act(words);
    words = words.subspan(*inner);
  }
  const std::size_t views = carries_command(words) ? words.size() : 1;
  for (std::size_t at = 0; at < views; ++at) act(words.subspan(at));
}

// A program that nobody but the system's owner puts there.
bool is_of_system(std::string_view path) {
  return (path.starts_with("/usr/") || path.starts_with("/bin/")) && !path.contains("/../");
}

// A program by its own path, where it may be one of the workspace.
void add_program(ShellWords words, std::vector<std::string>& files) {
  const std::string_view program = words[0].text;
  const bool is_known = is_of_system(program) && entry_of(program_of(program)).kind != ProgramKind::plain;
  if (program.contains('/') && !is_known) files.emplace_back(program);
}

// awk -f a, make --file=a, tar -I./a, git -c core.pager=./a.
void add_values_of_options(ShellWords words, std::vector<std::string>& files) {
  for (std::size_t at = 1; at < words.size(); ++at) {
    const std::string_view text = words[at].text;
    const bool is_value = !is_option(words[at]) && is_option(words[at - 1]);
    if (looks_like_code(words[at]) || !(is_value || is_option(words[at]))) continue;
    if (is_value) files.emplace_back(text);
    if (const std::size_t sign = text.find('='); sign != std::string_view::npos) {
      files.emplace_back(text.substr(sign + 1));
    } else if (!is_value && text.size() > 2 && text[1] != '-') {
      files.emplace_back(text.substr(2));
    }
  }
}

// The files whose code this program reads or may read, in order to run it.
void add_scripts(ShellWords words, std::vector<std::string>& files) {
  const std::string_view program = words[0].text;
  const ProgramEntry& entry = entry_of(program_of(program));
  if (program == "." || program == "source") {
    if (words.size() > 1) files.push_back(words[1].text);
    return;
  }
  if (entry.kind == ProgramKind::interpreter) add_interpreted_files(words, entry, files);
}

// What it runs because an option says so.
void add_values_that_run(ShellWords words, std::vector<std::string>& files) {
  const ProgramEntry& entry = entry_of(program_of(words[0]));
  const bool may_run_values =
      entry.kind == ProgramKind::plain || (entry.kind == ProgramKind::interpreter && entry.operands == 1);
  if (may_run_values && runs_code_itself(words, false)) add_values_of_options(words, files);
}

// env -C a ./b, ruby -C a b: what an option names may be the folder in which the others are found.
void add_beneath_values(ShellWords words, std::vector<std::string>& files) {
  constexpr std::size_t kMostFolders = 16;
  std::ranges::sort(files);
  files.erase(std::ranges::unique(files).begin(), files.end());
  std::vector<std::string> folders;
  add_values_of_options(words, folders);
  if (folders.size() > kMostFolders) folders.resize(kMostFolders);
  const std::size_t known = files.size();
  for (const std::string& folder : folders) {
    for (std::size_t at = 0; at < known; ++at) {
      if (!files[at].starts_with('/')) files.push_back(folder + "/" + files[at]);
    }
  }
}

std::vector<std::string> scripts_in_its_folder(const SimpleCommand& command) {
  std::vector<std::string> files;
  for (const Redirection& from : command.redirections) {
    if (from.kind == Redirection::Kind::read && takes_code_from_input(command.words))
      files.push_back(from.target);
  }
  for_each_command_in(command.words, [&files](ShellWords words) { add_scripts(words, files); });
  ShellWords last = command.words;
  while (const auto inner = carried_command(last)) last = last.subspan(*inner);
  add_values_that_run(last, files);
  if (last.size() <= kMostCarried)
    for_each_command_in(last, [&files](ShellWords words) { add_values_that_run(words, files); });
  return files;
}

bool any_command_in(ShellWords words, const auto& is_so) {
  bool found = false;
  for_each_command_in(words, [&](ShellWords seen) { found = found || is_so(seen); });
  return found;
}

bool is_writer(std::string_view program) {
  constexpr std::string_view kWriters[] = {"tee",   "cp",  "mv",   "ln",   "dd",    "install",
                                           "rsync", "scp", "curl", "wget", "patch", "sponge"};
  return std::ranges::find(kWriters, program) != std::end(kWriters);
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
  if (entry.kind == ProgramKind::plain) {
    return is_made_to(words, 1, entry, entry.carries) || is_made_to(words, 1, entry, entry.runs) ||
           running_subcommand(words, entry).has_value();
  }
  return entry.kind != ProgramKind::interpreter;
}

std::optional<std::size_t> wrapped_command(ShellWords words) {
  if (words[0].text.contains('/')) return std::nullopt;  // ./nice may be anything
  const ProgramEntry& entry = entry_of(program_of(words[0]));
  return entry.kind == ProgramKind::wrapper ? inner_command(words, entry) : std::nullopt;
}

std::optional<std::size_t> carried_command(ShellWords words) {
  const std::string_view program = program_of(words[0]);
  const ProgramEntry& entry = entry_of(program);
  // Others have words of their own before it: perf record.
  constexpr std::string_view kCarriers[] = {"env", "sudo", "doas", "xargs", "time"};
  if (entry.kind != ProgramKind::wrapper && std::ranges::find(kCarriers, program) == std::end(kCarriers))
    return std::nullopt;
  if (program != "env") return inner_command(words, entry);
  std::size_t at = 1;
  while (at < words.size() && !may_be_option(words[at]) && words[at].text.contains('=')) ++at;
  const bool is_plain = at < words.size() && !may_be_option(words[at]) && !words[at].varies;
  return is_plain ? std::optional(at) : std::nullopt;
}

bool is_fed(const SimpleCommand& command) {
  return command.joint == Joint::pipe ||
         std::ranges::any_of(command.redirections, [](const Redirection& redirection) {
           return redirection.kind == Redirection::Kind::read;
         });
}

bool runs_hidden_code(ShellWords words, bool is_fed) {
  if (runs_code_itself(words, is_fed)) return true;
  if (!carries_command(words)) return false;
  if (words.size() > kMostCarried) return true;
  for (std::size_t at = 1; at < words.size(); ++at) {
    if (can_carry(program_of(words[0]), words[at]) && runs_code_itself(words.subspan(at), is_fed))
      return true;
  }
  return false;
}

bool is_tame(ShellWords words, std::size_t covered, bool is_fed) {
  const std::string_view program = program_of(words[0]);
  const ProgramEntry& entry = entry_of(program);
  const ShellWords further = words.subspan(std::min(covered, words.size()));
  switch (entry.kind) {
    case ProgramKind::shell:
      return false;
    case ProgramKind::interpreter:
      return interpreter_is_tame(words, covered, entry, is_fed);
    case ProgramKind::wrapper:
    case ProgramKind::carrier: {
      const auto inner = inner_command(words, entry);
      return inner && covered > *inner && is_tame(words.subspan(*inner), covered - *inner, is_fed) &&
             !(program == "xargs" && is_open_to_more_words(program_of(words[*inner])));
    }
    case ProgramKind::plain:
      break;
  }
  if (program == "git" && !git_is_tame(words, covered)) return false;
  if (program == "curl" && has_writing_format(further)) return false;
  if (const auto at = running_subcommand(words, entry)) {
    const std::size_t inner = *at + 1;
    if (covered <= inner || !is_tame(words.subspan(inner), covered - inner, is_fed)) return false;
  }
  // A file may have the name of an option.
  if (has_risky_options(entry) && std::ranges::any_of(further, [](const ShellWord& word) {
        return word.varies && may_be_option(word);
      })) {
    return false;
  }
  return !is_made_to(words, covered, entry, entry.carries) &&
         !is_made_to(words, covered, entry, entry.runs) && !is_made_to(words, covered, entry, entry.writes) &&
         !writes_operand(words, covered, entry) && script_is_tame(program, words);
}

bool takes_code_from_input(ShellWords words) {
  const std::size_t views = carries_command(words) ? words.size() : 1;
  for (std::size_t at = 0; at < views; ++at) {
    const ShellWords seen = words.subspan(at);
    const ProgramEntry& entry = entry_of(program_of(seen[0]));
    if (entry.kind == ProgramKind::interpreter && reads_its_program(seen, entry)) return true;
    if (entry.kind != ProgramKind::carrier) continue;
    if (entry.operands < 0 || (entry.is_shell_if_bare && !inner_command(seen, entry))) return true;
    if (program_of(seen[0]) == "xargs" && xargs_runs_its_input(seen)) return true;
  }
  return false;
}

std::vector<std::string> files_that_may_run(const SimpleCommand& command) {
  std::vector<std::string> files = scripts_in_its_folder(command);
  for_each_command_in(command.words, [&files](ShellWords words) { add_program(words, files); });
  add_beneath_values(command.words, files);
  return files;
}

std::vector<std::string> scripts_that_may_run(const SimpleCommand& command) {
  std::vector<std::string> files = scripts_in_its_folder(command);
  add_beneath_values(command.words, files);
  return files;
}

bool may_write_what_it_names(ShellWords words) {
  return any_command_in(words, [](ShellWords seen) {
    const std::string_view program = program_of(seen[0]);
    const ProgramEntry& entry = entry_of(program);
    return is_writer(program) || entry.written_operand > 0 || is_made_to(seen, 1, entry, entry.writes);
  });
}

bool may_write_any_name(ShellWords words) {
  constexpr std::string_view kUnpackers[] = {"tar",   "gtar",   "bsdtar",   "cpio", "patch",
                                             "split", "csplit", "uudecode", "unzip"};
  return any_command_in(words, [&](ShellWords seen) {
    const std::string_view program = program_of(seen[0]);
    const auto holds = [seen](const auto& is_so) { return std::ranges::any_of(seen.subspan(1), is_so); };
    if (program == "git")
      return holds([](const ShellWord& word) { return word.text == "apply" || word.text == "am"; });
    if (program == "xargs") return holds([](const ShellWord& word) { return is_writer(program_of(word)); });
    return std::ranges::find(kUnpackers, program) != std::end(kUnpackers);
  });
}

bool may_run_what_an_option_says(ShellWords words) {
  return any_command_in(words, [](ShellWords seen) {
    const ProgramEntry& entry = entry_of(program_of(seen[0]));
    return entry.kind == ProgramKind::carrier && entry.operands < 0 &&
           std::ranges::any_of(seen.subspan(1), is_option);
  });
}

bool keeps_words_to_itself(const ShellWord& word) {
  const std::string_view program = program_of(word);
  if (entry_of(program).kind != ProgramKind::plain) return true;
  return is_well_known(program) && (!word.text.contains('/') || is_of_system(word.text));
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
  return std::ranges::find(kReaders, words[0].text) != std::end(kReaders) && is_tame(words, 1, false);
}

}  // namespace deputy
