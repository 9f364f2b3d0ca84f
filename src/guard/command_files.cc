// The files that a command runs or writes, as far as its words name them. A part of programs.h.
#include <algorithm>

#include "base/text.h"
#include "guard/carried_commands.h"
#include "guard/interpreter_words.h"
#include "guard/option_words.h"
#include "guard/program_table.h"
#include "guard/programs.h"

namespace deputy {
namespace {

// A program by its own path, where it may be one of the workspace.
void add_program(ShellWords words, std::vector<std::string>& files) {
  const std::string_view program = words[0].text;
  const bool is_known = is_system_path(program) && entry_of(program_of(program)).kind != ProgramKind::plain;
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
  if (std::ranges::none_of(words, is_option)) return;
  const ProgramEntry& entry = entry_of(program_of(words[0]));
  const bool may_run_values =
      entry.kind == ProgramKind::plain || (entry.kind == ProgramKind::interpreter && entry.operands == 1);
  if (may_run_values && runs_hidden_code(words, false)) add_values_of_options(words, files);
}

void add_run_untold(ShellWords words, std::vector<std::string>& files) {
  const ProgramEntry& entry = entry_of(program_of(words[0]));
  for (const std::string_view name : split(entry.runs_untold, ' ')) {
    if (!name.empty()) files.emplace_back(name);
  }
  const bool runs_all =
      entry.running_subcommands.empty() || std::ranges::any_of(words.subspan(1), [&](const ShellWord& word) {
        return lists(entry.running_subcommands, word.text);
      });
  if (!entry.runs_untold_endings.empty() && runs_all)
    files.push_back("*" + std::string(entry.runs_untold_endings));
}

void sort_out(std::vector<std::string>& files) {
  std::ranges::sort(files);
  files.erase(std::ranges::unique(files).begin(), files.end());
}

bool is_writer(std::string_view program) {
  constexpr std::string_view kWriters[] = {"tee",   "cp",  "mv",   "ln",   "dd",    "install",
                                           "rsync", "scp", "curl", "wget", "patch", "sponge"};
  return std::ranges::find(kWriters, program) != std::end(kWriters);
}

// The command of find -exec.
ShellWords up_to_its_end(ShellWords words) {
  for (std::size_t at = 0; at < words.size(); ++at) {
    const std::string_view text = words[at].text;
    if (text == ";" || (text == "+" && at > 0 && words[at - 1].text == "{}")) return words.first(at);
  }
  return words;
}

// What the tests of find ask of the name of each file that passes them: one of these patterns, "*" where that
// cannot be told.
std::vector<std::string> names_asked_for(ShellWords tests) {
  constexpr std::string_view kAlone = "-H -L -P -a -and -depth -empty -mount -print -print0 -prune -xdev";
  constexpr std::string_view kWithValue =
      "-type -maxdepth -mindepth -path -wholename -size -mtime -mmin -newer -perm -user -group";
  std::vector<std::string> any{"*"};
  const auto is_name = [&](std::size_t at) {
    return at < tests.size() && (tests[at].text == "-name" || tests[at].text == "-iname");
  };
  std::vector<std::string> names;
  bool is_inside = false;
  bool is_negated = false;
  std::size_t at = 0;
  while (at < tests.size() && !may_be_option(tests[at]) && !lists("( ) ! ,", tests[at].text)) ++at;
  for (; at < tests.size(); ++at) {
    const std::string_view text = tests[at].text;
    const bool is_or = text == "-o" || text == "-or";
    if (tests[at].varies) return any;
    if (text == "!" || text == "-not") {
      is_negated = true;
      continue;
    }
    if (text == "(" || (is_or && is_inside)) {
      if (is_negated || !is_name(at + 1) || (text == "(" && is_inside)) return any;
      is_inside = true;
    } else if (text == ")") {
      is_inside = false;
    } else if (is_or) {
      names.clear();  // what follows is asked of the others
    } else if (is_name(at) || lists(kWithValue, text)) {
      ++at;
      if (at == tests.size() || tests[at].varies || tests[at].text.contains('\\')) return any;
      if (is_name(at - 1) && !is_negated) names.push_back(tests[at].text);
    } else if (!lists(kAlone, text)) {
      return any;
    }
    is_negated = false;
  }
  return names.empty() ? any : names;
}

}  // namespace

std::vector<std::string> scripts_that_may_run(const SimpleCommand& command) {
  std::vector<std::string> files;
  for (const Redirection& from : command.redirections) {
    if (from.kind == Redirection::Kind::read && takes_code_from_input(command.words))
      files.push_back(from.target);
  }
  for_each_command_in(command.words, [&files](ShellWords words) { add_scripts(words, files); });
  ShellWords last = command.words;
  while (const auto inner = carried_command(last)) last = last.subspan(*inner);
  if (last.size() > kMostCarried) {
    add_values_that_run(last, files);
  } else {
    for_each_command_in(last, [&files](ShellWords words) { add_values_that_run(words, files); });
  }
  sort_out(files);
  return files;
}

std::vector<std::string> files_that_may_run(const SimpleCommand& command) {
  std::vector<std::string> files = scripts_that_may_run(command);
  for_each_command_in(command.words, [&files](ShellWords words) { add_program(words, files); });
  sort_out(files);
  return files;
}

std::vector<std::string> files_run_untold(ShellWords words) {
  std::vector<std::string> files;
  for_each_command_in(words, [&files](ShellWords seen) {
    add_run_untold(seen, files);
    if (const auto module = module_as_command(seen); !module.empty()) add_run_untold(module, files);
  });
  return files;
}

std::vector<std::string> folders_that_may_be_entered(const SimpleCommand& command) {
  std::vector<std::string> folders;
  add_values_of_options(command.words, folders);
  return folders;
}

bool may_write_what_it_names(ShellWords words) {
  return any_command_in(words, [](ShellWords seen) {
    const std::string_view program = program_of(seen[0]);
    const ProgramEntry& entry = entry_of(program);
    return is_writer(program) || entry.written_operand > 0 || is_made_to(seen, 1, entry, entry.writes);
  });
}

ShellWords words_that_may_be_replaced(ShellWords words) {
  constexpr std::string_view kCopiers[] = {"cp", "install", "ln", "mv"};
  const ShellWords further = words.subspan(1);
  const bool copies = std::ranges::find(kCopiers, program_of(words[0])) != std::end(kCopiers);
  if (!copies || further.empty()) return further;
  const ShellWord& last = further.back();
  // Into the folder that it runs in, or one that nobody can tell, the copies have the names of the sources.
  const bool may_keep_names = last.varies || last.text.contains("..") || program_of(last) == ".";
  // -t names it first; -b and -S keep what was there, under a name with an ending.
  const bool names_more = std::ranges::any_of(further, [](const ShellWord& word) {
    const std::string_view text = word.text;
    return has_letter(text, 't') || has_letter(text, 'b') || has_letter(text, 'S') ||
           text.starts_with("--t") || text.starts_with("--b") || text.starts_with("--s");
  });
  return may_keep_names || names_more || is_option(last) ? further : further.last(1);
}

std::vector<std::string> names_written_where_found(ShellWords words) {
  std::vector<std::string> any{"*"};
  const auto is_place = [](const ShellWord& word) { return word.text.contains('{'); };
  std::vector<std::string> names;
  std::size_t finder = words.size();
  std::string carries;
  bool needs_place = true;  // fd -x adds what it finds where none is
  for (std::size_t at = 0; at + 1 < words.size(); ++at) {
    if (finder < at && has_risky(words.subspan(at, 1), carries)) {
      if (words.size() > kMostCarried) return any;
      const ShellWords carried = up_to_its_end(words.subspan(at + 1));
      if (carried.empty() || !may_write_what_it_names(carried)) continue;
      if (needs_place && std::ranges::none_of(words_that_may_be_replaced(carried), is_place)) continue;
      const auto asked_for = needs_place ? names_asked_for(words.subspan(finder + 1, at - finder - 1)) : any;
      names.insert(names.end(), asked_for.begin(), asked_for.end());
    }
    const std::string_view program = program_of(words[at]);
    const ProgramEntry& entry = entry_of(program);
    if (entry.carries.empty() || carries.contains(entry.carries)) continue;
    finder = std::min(finder, at);
    carries += std::string(entry.carries) + " ";
    needs_place = needs_place && program == "find";
  }
  return names;
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

bool may_unpack_what_it_names(ShellWords words) {
  constexpr std::string_view kUnpackers[] = {"7z",      "7za",  "7zr",    "7zz",        "ar",     "bunzip2",
                                             "bzip2",   "gzip", "gunzip", "lz4",        "lzma",   "unlzma",
                                             "unrar",   "unar", "unxz",   "uncompress", "unzstd", "xz",
                                             "bsdcpio", "pax",  "zstd",   "cabextract"};
  return may_write_any_name(words) || any_command_in(words, [&](ShellWords seen) {
           const std::string_view program = program_of(seen[0]);
           return entry_of(program).makes_programs ||
                  std::ranges::find(kUnpackers, program) != std::end(kUnpackers);
         });
}

}  // namespace deputy
