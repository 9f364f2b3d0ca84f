#include "guard/interpreter_words.h"

#include <algorithm>

#include "base/text.h"
#include "guard/option_words.h"

namespace deputy {
namespace {

// By any of its names, /./dev/stdin too; where the way goes up nobody can tell where it ends.
bool is_stream(const ShellWord& word) {
  const std::string_view path = word.text;
  if (path == "-") return true;
  auto names = split(path, '/');
  std::erase_if(names, [](std::string_view name) { return name.empty() || name == "."; });
  const auto is_theirs = [](std::string_view name) { return name == "dev" || name == "proc"; };
  const bool goes_up = std::ranges::find(names, "..") != names.end();
  if (word.varies && (goes_up || path.starts_with('/'))) return true;
  if (goes_up) return std::ranges::any_of(names, is_theirs);
  if (names.size() < 2 || !is_theirs(names[0])) return false;
  // A project may have a folder of that name.
  return path.starts_with('/') || names[0] == "proc" || names[1].starts_with("std") || names[1] == "fd";
}

std::string_view without_digits(std::string_view program) {
  return program.substr(0, program.find_first_of("0123456789"));
}

bool asks_for_version(ShellWords words) {
  if (words.size() != 2) return false;
  constexpr std::string_view kSmall = "bun node nodejs perl php ruby lua luajit julia ts-node tsx";
  const std::string_view option = words[1].text;
  return option == "--version" || option == "--help" || option == "-V" ||
         (option == "-v" && lists(kSmall, without_digits(program_of(words[0]))));
}

// Letters of options that take no value and no code, and leave it to the file what is run.
std::string_view harmless_letters(std::string_view program) {
  const std::string_view name = without_digits(program);
  if (lists("sh bash dash ash ksh mksh zsh", name)) return "efnuvx";
  if (lists("python pypy", name)) return "bBEIOqsSuv";
  return lists("perl ruby", name) ? "w" : "";
}

// Modules of Python that take code as their words or from their input, or another module to run.
constexpr std::string_view kCodeModules[] = {"timeit",   "pdb",   "code",    "asyncio",     "cProfile",
                                             "profile",  "trace", "IPython", "ipdb",        "bpython",
                                             "ptpython", "xonsh", "idlelib", "idlelib.idle"};

// As in python -m timeit CODE, -mtimeit, or behind another module: python -m coverage run -m timeit.
bool runs_code_module(ShellWords words) {
  if (words.size() < 2 || !is_option(words[1])) return false;
  for (std::size_t at = 1; at < words.size(); ++at) {
    std::string_view text = words[at].text;
    if (text == "-m" || text == "--module") {
      if (at + 1 == words.size()) return false;
      text = words[at + 1].text;
      if (words[at + 1].varies) return true;
    } else if (text.starts_with("-m")) {
      if (words[at].varies) return true;
      text.remove_prefix(2);
    } else {
      continue;
    }
    if (std::ranges::find(kCodeModules, text) != std::end(kCodeModules)) return true;
  }
  return false;
}

bool is_python(std::string_view program) { return program.contains("py"); }

// The letters of options after which code stands. They mean other things elsewhere: python -E, bash -e, ruby
// -c.
std::string_view code_letters(std::string_view program) {
  if (is_python(program) || program.ends_with("sh")) return "c";
  if (program.starts_with("perl")) return "eE";
  if (program.starts_with("ruby")) return "e";
  if (program.starts_with("node") || program.starts_with("ts")) return "ep";
  if (program.starts_with("php")) return "rBRE";
  if (program.starts_with("deno")) return "";
  return "ceE";
}

// What follows is code, or a module: -c, -lc, -ne, -m.
bool precedes_code(ShellWords words, std::size_t at) {
  const std::string_view program = program_of(words[0]);
  const std::string_view text = words[at].text;
  if (text.size() < 2 || text[0] != '-') return false;
  if (text[1] == '-') return text == "--eval" || text == "--print" || text == "--command";
  return code_letters(program).contains(text.back()) || (is_python(program) && text.starts_with("-m"));
}

// Where python -m finds a module of the folder that it runs in.
void add_module_files(ShellWords words, std::size_t at, std::vector<std::string>& files) {
  const std::string_view text = words[at].text;
  if (!is_python(program_of(words[0])) || !has_letter(text, 'm')) return;
  const bool is_attached = text.starts_with("-m") && text.size() > 2;
  if (!is_attached && (!text.ends_with('m') || at + 1 == words.size())) return;
  std::string path(is_attached ? text.substr(2) : std::string_view(words[at + 1].text));
  files.push_back(path.substr(0, path.find('.')) + "/__init__.py");
  std::ranges::replace(path, '.', '/');
  for (const std::string_view ending : {".py", "/__init__.py", "/__main__.py"})
    files.push_back(path + std::string(ending));
}

// The words of an interpreter among which its file stands, if it has one: its options, each of which may take
// a word, and the first that none can have taken.
ShellWords words_with_file(ShellWords words, const ProgramEntry& entry) {
  bool may_be_subcommand = !entry.subcommands.empty();  // deno run
  for (std::size_t at = 1; at < words.size(); ++at) {
    if (is_option(words[at]) || is_option(words[at - 1])) continue;
    if (!may_be_subcommand) return words.first(at + 1);
    may_be_subcommand = false;
  }
  return words;
}

}  // namespace

std::optional<std::size_t> running_subcommand(ShellWords words, const ProgramEntry& entry) {
  for (std::size_t at = 1; !entry.subcommands.empty() && at < words.size(); ++at) {
    if (lists(entry.subcommands, words[at].text)) return at;
    if (!is_option(words[at]) && !is_option(words[at - 1])) break;
  }
  return std::nullopt;
}

std::size_t place_of_file(ShellWords words) {
  const std::string_view letters = harmless_letters(program_of(words[0]));
  std::size_t at = 1;
  while (at < words.size() && words[at].text.size() > 1 && words[at].text[0] == '-' &&
         words[at].text.find_first_not_of(letters, 1) == std::string::npos)
    ++at;
  return at;
}

bool runs_a_file(ShellWords words, const ProgramEntry& entry, bool is_fed) {
  if (words.size() < 2) return false;
  if (asks_for_version(words)) return true;
  if (running_subcommand(words, entry)) return false;
  const ShellWords from_file = words.subspan(place_of_file(words));
  if (from_file.empty()) return false;
  if (from_file[0].text == "-m")
    return from_file.size() > 1 && !may_be_option(from_file[1]) && !runs_code_module(words);
  if (entry.operands == 1 && (is_fed || words.size() > 2)) return false;
  return !may_be_option(from_file[0]) && !is_stream(from_file[0]);
}

bool reads_its_program(ShellWords words, const ProgramEntry& entry) {
  if (asks_for_version(words)) return false;
  if (entry.operands == 1 || runs_code_module(words)) return true;
  const ShellWords own = words_with_file(words, entry);
  bool has_file = false;
  for (std::size_t at = 1; at < own.size(); ++at) {
    if (is_stream(own[at])) return true;
    if (precedes_code(own, at) && at + 1 < words.size()) return false;
    has_file = has_file || !(may_be_option(own[at]) || is_option(own[at - 1]));
  }
  return !has_file;
}

bool interpreter_is_tame(ShellWords words, std::size_t covered, const ProgramEntry& entry, bool is_fed) {
  if (words.size() < 2 || !is_option(words[1])) return runs_a_file(words, entry, is_fed);
  if (is_fed && reads_its_program(words, entry)) return false;
  if (runs_code_module(words)) return false;
  if (words[1].text == "-m") return covered >= 3 || asks_for_version(words);
  // Options that the rule does not give could be code.
  return asks_for_version(words) ||
         (covered >= 2 &&
          std::ranges::none_of(words.subspan(std::min(covered, words.size())), may_be_option));
}

void add_interpreted_files(ShellWords words, const ProgramEntry& entry, std::vector<std::string>& files) {
  if (running_subcommand(words, entry)) return;
  if (entry.operands == 1 && words.size() > 2) return;
  const ShellWords own = words_with_file(words, entry);
  for (std::size_t at = 1; at < own.size(); ++at) {
    add_module_files(words, at, files);
    if (precedes_code(own, at)) return;
    const std::string_view text = own[at].text;
    if (!is_option(own[at])) {
      if (!is_stream(own[at])) files.emplace_back(text);
    } else if (const std::size_t sign = text.find('='); sign != std::string_view::npos) {
      files.emplace_back(text.substr(sign + 1));  // --require=./a.js
    } else if (text.size() > 2 && text[1] != '-' && text.find_first_of("./", 2) != std::string_view::npos) {
      files.emplace_back(text.substr(2));  // -r./a.rb
    }
  }
}

std::vector<ShellWord> module_as_command(ShellWords words) {
  const std::string_view program = program_of(words[0]);
  if (!is_python(program) || entry_of(program).kind != ProgramKind::interpreter) return {};
  for (std::size_t at = 1; at < words.size(); ++at) {
    if (!words[at].text.starts_with("-m")) continue;
    std::vector<ShellWord> command(words.begin() + static_cast<std::ptrdiff_t>(at), words.end());
    command[0].text.erase(0, 2);
    if (command[0].text.empty()) command.erase(command.begin());
    return command;
  }
  return {};
}

}  // namespace deputy
