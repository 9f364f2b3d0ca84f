#include "guard/programs.h"

#include <algorithm>

#include "base/text.h"
#include "guard/carried_commands.h"
#include "guard/git_words.h"
#include "guard/interpreter_words.h"
#include "guard/option_words.h"
#include "guard/program_table.h"
#include "guard/script_texts.h"

namespace deputy {
namespace {

bool has_risky_options(const ProgramEntry& entry) {
  return !entry.carries.empty() || !entry.runs.empty() || !entry.writes.empty() || entry.written_operand > 0;
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

// strace -E A=b, firejail --env=A=b: the same, of a carrier that takes no such word but as an option.
bool has_variable_option(ShellWords words) {
  for (std::size_t at = 1; at < words.size(); ++at) {
    const std::string_view text = words[at].text;
    const bool is_named = text.starts_with("--env") || text.starts_with("--setenv") ||
                          text.starts_with("--process-slot-var");  // of xargs
    const bool has_value = text.contains('=') || (at + 1 < words.size() && words[at + 1].text.contains('='));
    if (is_named || (has_letter(text, 'E') && has_value)) return true;
    if (!is_option(words[at]) && !is_option(words[at - 1])) return false;
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
  if (option.starts_with("--r")) return option.contains('=') ? option.substr(option.find('=') + 1) : kUsual;
  const std::size_t at = option.starts_with("--") ? std::string_view::npos : option.find_first_of("IJi");
  if (at == std::string_view::npos) return {};
  return at + 1 < option.size() ? option.substr(at + 1) : kUsual;
}

// Whether the option of xargs before this word may have taken it for its value.
bool may_be_value(ShellWords words, std::size_t at) {
  return is_option(words[at - 1]) && may_take_next_word(words[at - 1].text);
}

// -I %: it says so by itself.
bool is_value_replaced(ShellWords words, std::size_t at) {
  const std::string_view before = words[at - 1].text;
  return may_be_value(words, at) && (before.ends_with('I') || before.ends_with('J'));
}

// All that a piece of its input may stand for: of xargs -I% -di the last letter is a value, and says nothing.
std::vector<std::string_view> replaced_in(ShellWords words) {
  std::vector<std::string_view> replaced;
  for (std::size_t at = 1; at < words.size(); ++at) {
    if (is_option(words[at])) {
      if (const auto found = replaced_by(words[at].text); !found.empty()) replaced.push_back(found);
    } else if (is_value_replaced(words, at)) {
      replaced.push_back(words[at].text);
    } else if (!may_be_value(words, at)) {
      break;
    }
  }
  return replaced;
}

bool holds_one_of(std::string_view text, std::span<const std::string_view> places) {
  return std::ranges::any_of(places, [text](std::string_view place) { return text.contains(place); });
}

// Whether it is an interpreter, and its file or module is such a one.
bool runs_file_that(ShellWords words, const auto& is_so) {
  const std::size_t at = place_of_file(words);
  if (entry_of(program_of(words[0])).kind != ProgramKind::interpreter || at >= words.size()) return false;
  return is_so(words[at]) || (words[at].text == "-m" && at + 1 < words.size() && is_so(words[at + 1]));
}

// Whether what xargs reads is, or decides, what it runs.
bool xargs_runs_its_input(ShellWords words) {
  const std::vector<std::string_view> replaced = replaced_in(words);
  const auto is_replaced = [&](const ShellWord& word) { return holds_one_of(word.text, replaced); };
  for (std::size_t at = 1; at < words.size(); ++at) {
    if (is_option(words[at]) || is_value_replaced(words, at)) continue;
    if (is_open_to_more_words(program_of(words[at]))) return true;
    if (is_replaced(words[at]) || runs_file_that(words.subspan(at), is_replaced)) return true;
    if (!may_be_value(words, at)) return false;
  }
  return false;
}

// Where find -exec and fd -x put what they find.
bool holds_found(std::string_view text) {
  constexpr std::string_view kPlaces[] = {"{}", "{/}", "{//}", "{.}", "{/.}"};
  return holds_one_of(text, kPlaces);
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
    const bool runs_script = runs_file_that(words.subspan(at + 1), holds_place);
    if (holds_place(words[at + 1]) || runs_script ||
        (carries_on && std::ranges::any_of(words.subspan(at + 1), holds_place))) {
      return true;
    }
  }
  return false;
}

// parallel r{} ::: m makes its commands of several words, parallel :::: f of what a file holds.
bool is_filled_in(const ShellWord& word) { return word.text.contains('{') || word.text.starts_with("::::"); }

// For some shell to read, which may put other words in the place of braces: {rm,x}, {r..r}m.
bool may_be_text(const ShellWord& word) {
  const std::string_view text = word.text;
  for (std::size_t at = text.find('{'); at != std::string_view::npos; at = text.find('{', at + 1)) {
    const std::string_view inside = text.substr(at, text.find('}', at) - at);
    if (inside.contains(',') || inside.contains("..")) return true;
  }
  return looks_like_code(word);
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
      if (has_variable_option(words)) return true;
      if (program == "parallel" && std::ranges::any_of(words.subspan(1), is_filled_in)) return true;
      if (entry.operands < 0 && (words.size() <= 2 || std::ranges::any_of(words.subspan(1), may_be_text)))
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

FilledWords fill_in(ShellWords words) {
  FilledWords filled;
  bool is_behind = false;
  std::vector<std::string_view> replaced;  // by what xargs reads
  std::string carries;                     // of find
  for (std::size_t at = 0; at < words.size(); ++at) {
    const ShellWord& word = words[at];
    if (is_behind) {
      const bool varies = word.varies || word.text.starts_with(":::") || holds_found(word.text) ||
                          holds_one_of(word.text, replaced);
      filled.words.push_back({word.text, varies});
    }
    const std::string_view program = program_of(word);
    is_behind = is_behind || program == "parallel" || has_risky(words.subspan(at, 1), carries);
    if (program == "xargs") {
      is_behind = filled.grows = true;
      replaced = replaced_in(words.subspan(at));
    } else if (const ProgramEntry& entry = entry_of(program); !carries.contains(entry.carries)) {
      carries += std::string(entry.carries) + " ";
    }
  }
  return filled;
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
  const auto hold_code = [&](ShellWords carried) {
    for (std::size_t at = 0; at < carried.size(); ++at) {
      if (can_carry(program_of(words[0]), carried[at]) && runs_code_itself(carried.subspan(at), is_fed))
        return true;
    }
    return false;
  };
  return hold_code(words.subspan(1)) || hold_code(fill_in(words).words);
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
  return is_well_known(program) && (!word.text.contains('/') || is_system_path(word.text));
}

bool changes_folder(ShellWords words) {
  constexpr std::string_view kNames[] = {"cd", "pushd", "popd", "command", "builtin"};
  return std::ranges::find(kNames, words[0].text) != std::end(kNames);
}

bool changes_what_follows(ShellWords words) {
  return changes_folder(words) || entry_of(program_of(words[0])).kind == ProgramKind::shell;
}

bool only_reads(ShellWords words) {
  constexpr std::string_view kReaders[] = {
      "cat",  "ls",       "head",     "tail",     "grep",    "egrep",  "fgrep",     "rg",  "wc",  "stat",
      "file", "diff",     "du",       "tree",     "echo",    "test",   "[",         "pwd", "cmp", "nl",
      "od",   "realpath", "readlink", "basename", "dirname", "md5sum", "sha256sum", "cut", "find"};
  return std::ranges::find(kReaders, words[0].text) != std::end(kReaders) && is_tame(words, 1, false);
}

}  // namespace deputy
