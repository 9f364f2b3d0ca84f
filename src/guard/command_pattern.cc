#include "guard/command_pattern.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "guard/interpreter_words.h"
#include "guard/option_words.h"
#include "guard/program_table.h"
#include "guard/varying_names.h"

namespace deputy {
namespace {

bool is_option(std::string_view word) { return word.starts_with('-') && word.size() > 1; }

std::unexpected<Error> not_plain(std::string_view text, std::string_view why) {
  return fail(ErrorCode::invalid,
              fmt::format("the command {} is not plain: {}", made_visible(shorten(text, 120)), why),
              "write the words of one command: git status:* for all that begin so, npm test for it alone");
}

bool names_protected_path(ShellWords words, const Roots& roots) {
  const auto is_protected = [&](const std::string& path) {
    const LocatedPath located = locate(path, roots);
    return !protected_names_in(located.in_workspace.value_or(located.end)).empty();
  };
  // Where a path may begin behind letters of options, as in -t.git/hooks and -vt.git/hooks.
  const auto holds_protected = [&](const std::string& letters) {
    constexpr std::size_t kLongestName = 64;  // none that is protected is as long
    const std::size_t end = std::min(letters.find('/'), letters.size() - 1);
    for (std::size_t at = std::max<std::size_t>(2, end - std::min(end, kLongestName)); at <= end; ++at) {
      if (is_protected(letters.substr(at))) return true;
    }
    return false;
  };
  return std::ranges::any_of(words.subspan(1), [&](const ShellWord& word) {
    // Of --output=.git/config and of=.git/config the path.
    const std::size_t sign = word.text.find('=');
    const bool has_letters = is_option(word.text) && word.text.size() > 2 && word.text[1] != '-';
    return is_protected(word.text) ||
           (sign != std::string::npos && is_protected(word.text.substr(sign + 1))) ||
           (has_letters && holds_protected(word.text));
  });
}

// Whether the words hold the flag in some spelling: -rf may be -r -f, -fr or --recursive --force.
bool may_hold_flag(ShellWords words, std::string_view flag) {
  const bool is_long = flag.starts_with("--");
  std::string letters;
  for (const ShellWord& word : words) {
    if (word.varies && may_be_option(word)) return true;
    if (word.text.starts_with("--")) {
      const std::string_view name = std::string_view(word.text).substr(0, word.text.find('='));
      if (!is_long || (name.size() > 2 && (flag.starts_with(name) || name.starts_with(flag)))) return true;
    } else if (word.text.starts_with('-')) {
      letters += word.text.substr(1);
    }
  }
  const std::string_view wanted = is_long ? flag.substr(2, 1) : flag.substr(1);
  return std::ranges::all_of(wanted, [&](char letter) { return letters.contains(letter); });
}

// cargo +nightly build: it takes no value.
bool is_toolchain(std::string_view word) { return word.starts_with('+'); }

// Whether the names stand in this order among the words, with nothing between them but options and their
// values. Each may stand by another of its names. Of the last one a word may have only the beginning; the
// first, where it may be shortened, may have only the beginning of the name.
bool may_hold_names(ShellWords words, std::span<const std::string_view> names, bool last_is_beginning,
                    const ProgramEntry& entry) {
  enum State : std::uint8_t { unreached = 0, reached = 1, after_option = 2 };
  std::vector<int> states(names.size() + 1, unreached);
  states[0] = reached;
  for (const ShellWord& word : words) {
    std::vector<int> next(names.size() + 1, unreached);
    for (std::size_t at = 0; at < names.size(); ++at) {
      if (states[at] == unreached) continue;
      const bool is_beginning = last_is_beginning && at + 1 == names.size();
      const std::string_view others = names_of_subcommand(entry, names[at]);
      const bool is_named = (is_beginning ? word.text.starts_with(names[at]) : word.text == names[at]) ||
                            lists(others, word.text);
      const bool is_short = at == 0 && entry.shortens_subcommands && !word.text.empty() &&
                            (names[at].starts_with(word.text) || lists_beginning(others, word.text));
      if (is_named || is_short) next[at + 1] |= reached;
      // The shell may make several words of a pattern.
      for (std::size_t later = at + 1; word.varies && later <= names.size(); ++later) next[later] |= reached;
      if (is_option(word.text)) next[at] |= after_option;
      if (is_toolchain(word.text)) next[at] |= states[at];
      if ((states[at] & after_option) != 0) next[at] |= reached;
    }
    next[names.size()] |= states[names.size()];
    states = std::move(next);
  }
  return states[names.size()] != unreached;
}

// Where the subcommand may stand: the first word that is no option and no value of one, and where the option
// before it may have taken it for its value, the next one too.
std::vector<std::size_t> possible_subcommands(std::string_view program, ShellWords further) {
  std::vector<std::size_t> found;
  TakesValue is_value = TakesValue::no;
  for (std::size_t at = 0; at < further.size(); ++at) {
    const std::string_view text = further[at].text;
    if (is_toolchain(text)) continue;
    if (is_option(text)) {
      is_value = takes_value(program, text);
      continue;
    }
    if (is_value != TakesValue::yes) found.push_back(at);
    if (is_value == TakesValue::no) break;
    is_value = TakesValue::no;
  }
  return found;
}

// Whether the word there, or one that it passes the subcommand on to, may mean the implied one: yarn build,
// yarn workspace a build.
bool may_imply_at(std::string_view program, ShellWords further, std::size_t at) {
  const ProgramEntry& entry = entry_of(program);
  const std::string_view subcommand = further[at].text;
  if (!may_imply_subcommand(entry, subcommand)) return false;
  if (!passes_subcommand_on(entry, subcommand)) return true;
  ShellWords behind = further.subspan(at + 1);
  if (takes_name_before_nested(entry, subcommand) && !behind.empty()) {
    if (is_option(behind[0].text)) return true;
    behind = behind.subspan(1);
  }
  return std::ranges::any_of(possible_subcommands(program, behind), [&](std::size_t nested) {
    return may_imply_subcommand(entry, behind[nested].text);
  });
}

// "npm" of node_modules/npm/bin/npm-cli.js, "yarn-4.1" of .yarn/releases/yarn-4.1.cjs: a program as the
// script that it is.
std::string_view program_of_script(std::string_view file) {
  if (!file.contains('/')) return file;
  std::string_view name = program_of(file);
  for (const std::string_view ending : {".js", ".cjs", ".mjs", ".pyz", "-cli"}) {
    if (name.ends_with(ending)) name.remove_suffix(ending.size());
  }
  return name;
}

// What a shell would put something else in place of, were it given the word to read. A variable within a
// single word that does not begin with it is no command: query($owner:String!).
bool holds_expansion(const ShellWord& word) {
  const std::string_view text = word.text;
  const bool may_be_command = text.starts_with('$') || text.find_first_of(" \n;|&") != std::string_view::npos;
  for (std::size_t at = text.find('$'); at != std::string_view::npos; at = text.find('$', at + 1)) {
    const char next = at + 1 < text.size() ? text[at + 1] : ' ';
    const bool is_name = (next >= 'a' && next <= 'z') || (next >= 'A' && next <= 'Z') || next == '_';
    if ((is_name && may_be_command) || std::string_view("{('@*").contains(next)) return true;
  }
  return text.contains('`');
}

// Of x, of=d/x.
std::string_view file_name_in(std::string_view text) {
  return program_of(text.substr(text.find('=') + 1));  // npos + 1 is 0
}

// The names of files, wherever they lie, that a word may stand for: x, of=d/x, -uox, and of an address x?a=b.
void for_each_name_in(std::string_view text, const auto& act) {
  constexpr std::size_t kLongestName = 255;
  act(file_name_in(text));
  if (const std::size_t end = text.find_first_of("?#"); end > 0 && end != std::string_view::npos)
    act(program_of(text.substr(0, end)));
  if (!text.starts_with('-') || text.size() < 3) return;
  if (text.contains('/')) return act(program_of(text));
  for (std::size_t at = std::max<std::size_t>(2, text.size() - std::min(text.size(), kLongestName));
       at < text.size(); ++at)
    act(text.substr(at));
}

// Whether it may read a file of one of the names; of a.zip `unzip` may be told as a.
bool may_name_one_of(const FileNames& files, const SimpleCommand& command) {
  const FileNames::Names& names = files.plain();
  bool found = false;
  for (const ShellWord& word : std::span(command.words).subspan(1)) {
    found = found || word.varies || files.may_hold(file_name_in(word.text));
    for_each_name_in(word.text, [&](std::string_view name) {
      const std::string with_ending = fmt::format("{}.", name);
      const auto first = names.lower_bound(with_ending);
      found = found || names.contains(name) || (first != names.end() && first->starts_with(with_ending));
    });
  }
  return found;
}

// The names of files that may be others once it has run, wherever they lie, as far as these words tell them.
void add_written(const SimpleCommand& command, ShellWords words, FileNames& files) {
  for (const Redirection& to : command.redirections) {
    if (to.kind == Redirection::Kind::write || to.kind == Redirection::Kind::append)
      files.add(program_of(to.target));
  }
  if (!may_write_what_it_names(command.words)) return;
  for (const ShellWord& word : words)
    for_each_name_in(word.text, [&files](std::string_view name) { files.add(name); });
  for (const ShellWord& word : words_that_may_be_replaced(command.words)) {
    if (word.varies) files.add_pattern(is_option(word) ? "*" : file_name_in(word.text));
  }
  for (const std::string& pattern : names_written_where_found(command.words)) files.add_pattern(pattern);
}

}  // namespace

std::vector<CommandSubject> subjects_of(std::vector<SimpleCommand> commands, const Roots& roots) {
  std::vector<CommandSubject> subjects;
  bool is_moved = false;
  FileNames written;
  FileNames replaced;  // those of them that are not merely the source of a copy
  bool may_all_be_written = false;
  for (SimpleCommand& command : commands) {
    CommandSubject subject{.is_fed = is_fed(command), .is_moved = is_moved};
    const auto may_be_written = [&](const std::string& file) {
      const bool is_any = file.find_first_of("*?[{") != std::string::npos;  // sh ./?, find -exec sh {}
      return may_all_be_written || written.may_hold_or_keep(program_of(file)) || (is_any && !written.empty());
    };
    const auto may_be_replaced = [&](const std::string& file) {
      return may_all_be_written || (file.starts_with('*') ? replaced.may_hold_ending(file.substr(1))
                                                          : replaced.may_hold_or_keep(file));
    };
    const bool may_run_written = may_all_be_written || !written.empty();
    subject.hides_code =
        runs_hidden_code(command.words, subject.is_fed) ||
        (may_run_written && std::ranges::any_of(files_that_may_run(command), may_be_written)) ||
        (!written.empty() && std::ranges::any_of(files_run_untold(command.words), may_be_replaced));
    // What it unpacks, the same line has made: it is fed it, or reads it where that was written before.
    may_all_be_written =
        may_all_be_written || (subject.is_fed && may_write_any_name(command.words)) ||
        (!written.empty() && may_unpack_what_it_names(command.words) && may_name_one_of(written, command));
    add_written(command, std::span(command.words).subspan(1), written);
    add_written(command, words_that_may_be_replaced(command.words), replaced);
    subject.names_protected = !only_reads(command.words) && names_protected_path(command.words, roots);
    is_moved = is_moved || changes_folder(command.words);
    subject.command = std::move(command);
    subjects.push_back(std::move(subject));
  }
  return subjects;
}

bool CommandPattern::ends_within_word(std::string_view text) {
  return text.size() > 1 && text.ends_with('*') &&
         std::string_view(": \\*").find(text[text.size() - 2]) == std::string_view::npos;
}

Result<CommandPattern> CommandPattern::compile(std::string_view text) {
  if (text.size() > kMaxBytes) {
    return fail(ErrorCode::invalid,
                fmt::format("the pattern is {} bytes long, at most {} are taken", text.size(), kMaxBytes),
                "write fewer words");
  }
  CommandPattern pattern;
  std::string_view command = text;
  for (const std::string_view ending : {":*", " *"}) {
    if (pattern.is_prefix_ || !command.ends_with(ending)) continue;
    command.remove_suffix(ending.size());
    pattern.is_prefix_ = true;
  }
  pattern.ends_within_word_ = !pattern.is_prefix_ && ends_within_word(command);
  if (pattern.ends_within_word_) command.remove_suffix(1);
  auto reading = read_shell(command);
  if (!reading) return not_plain(text, reading.error().why);
  if (reading->size() > 1) return not_plain(text, "it is more than one, and each is judged by itself");
  if (!reading->front().redirections.empty())
    return not_plain(text, "redirections are judged by rules of Write");
  pattern.words_ = std::move(reading->front().words);
  pattern.program_ = lowered(program_of(pattern.words_[0]));
  if (std::ranges::any_of(pattern.words_, [](const ShellWord& word) {
        return word.text.find_first_of("*?[") != std::string::npos && word.varies;
      })) {
    return not_plain(text, "a * stands only at its end");
  }
  return pattern;
}

RuleMatch CommandPattern::match(const CommandSubject& subject) const {
  const ShellWords words = subject.command.words;
  for (ShellWords seen = words;;) {
    if (gives(seen, subject)) return RuleMatch::yes;
    const auto inner = wrapped_command(seen);
    if (!inner) break;
    seen = seen.subspan(*inner);
  }
  const bool carries = carries_command(words);
  FilledWords filled = carries ? fill_in(words) : FilledWords{};
  if (filled.grows) filled.words.push_back({"*", true});
  if (is_meant_among(words, carries ? words.size() : 1) || is_meant_among(filled.words, filled.words.size()))
    return RuleMatch::maybe;
  if (may_become(words) || subject.hides_code) return RuleMatch::maybe;
  const bool is_unknown = !carries && !keeps_words_to_itself(words[0]);
  if ((carries || is_unknown) && is_named_in(words.subspan(1)))
    return carries ? RuleMatch::maybe : RuleMatch::named;
  if (is_unknown && (may_become_behind(words) || std::ranges::any_of(words.subspan(1), holds_expansion)))
    return RuleMatch::named;
  return may_run_what_an_option_says(words) ? RuleMatch::named : RuleMatch::no;
}

bool CommandPattern::gives(ShellWords words, const CommandSubject& subject) const {
  if (ends_within_word_ || words.size() < words_.size() ||
      !std::ranges::equal(words.first(words_.size()), words_))
    return false;
  const std::string_view program = words[0].text;
  const bool is_of_folder = program.contains('/') && !program.starts_with('/');
  // What another folder's repository configures, git runs.
  if (subject.is_moved && (is_of_folder || program_of(program) == "git")) return false;
  // Who allows an interpreter by its name alone has not allowed what it is fed.
  if (words.size() == words_.size() && !is_prefix_) return !(subject.is_fed && takes_code_from_input(words));
  return is_prefix_ && !subject.names_protected && is_tame(words, words_.size(), subject.is_fed);
}

bool CommandPattern::is_program(std::string_view path) const {
  const std::string_view program = program_of(path);
  if (ends_within_word_ && words_.size() == 1)
    return path.starts_with(words_[0].text) || (!program_.empty() && lowered(program).starts_with(program_));
  if (program.size() < program_.size()) return false;
  // A version is no part of a name: who forbids pip forbids pip3. One of two scripts is not a version of the
  // other.
  const std::string_view version = program.substr(program_.size());
  const bool can_be_version =
      !words_[0].text.contains('/') && version.find_first_not_of("0123456789.-") == std::string_view::npos;
  return (version.empty() || can_be_version) && lowered(program.substr(0, program_.size())) == program_;
}

// As a word, or within one that looks like a command line, or like an option with a value.
bool CommandPattern::is_named_in(ShellWords words) const {
  constexpr std::string_view kQuotes = "\\'\"";
  constexpr std::size_t kMostLookedInto = 64;  // what comes later need only be the program itself
  for (std::size_t at = 0; at < words.size(); ++at) {
    const std::string_view text = words[at].text;
    if (at < kMostLookedInto ? may_mean(words.subspan(at)) : is_program(text)) return true;
    if (is_named_in_text(text)) return true;
    if (text.find_first_of(kQuotes) == std::string_view::npos) continue;
    std::string plain(text);  // as a shell would read r\m and r''m
    std::erase_if(plain, [&](char c) { return kQuotes.contains(c); });
    if (is_program(plain) || is_named_in_text(plain)) return true;
  }
  return false;
}

bool CommandPattern::is_named_in_text(std::string_view text) const {
  constexpr std::string_view kBreaks = " \t\n;|&<>$`()!='\",";
  if (text.find_first_of(kBreaks) == std::string_view::npos) return false;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = std::min(text.find_first_of(kBreaks, from), text.size());
    if (is_program(text.substr(from, end - from))) return true;
    from = end + 1;
  }
  return false;
}

// Whether one of the commands that begin with the first of the words may be meant.
bool CommandPattern::is_meant_among(ShellWords words, std::size_t views) const {
  for (std::size_t at = 0; at < views; ++at) {
    const ShellWords seen = words.subspan(at);
    const auto module = module_as_command(seen);
    if (may_mean(seen) || may_mean_script(seen) || (!module.empty() && may_mean(module))) return true;
  }
  return false;
}

bool CommandPattern::may_mean(ShellWords words) const {
  return is_program(words[0].text) && may_have_words(words.subspan(1));
}

// bash deploy.sh, python3 /usr/bin/pip install, node npm-cli.js publish.
bool CommandPattern::may_mean_script(ShellWords words) const {
  const std::size_t at = place_of_file(words);
  if (at >= words.size()) return false;
  const std::string_view file = words[at].text;
  const ProgramEntry& entry = entry_of(program_of(words[0]));
  return (is_program(file) || is_program(program_of_script(file))) && may_have_words(words.subspan(at + 1)) &&
         entry.kind == ProgramKind::interpreter && !entry.only_shows;
}

// Whether the shell may put it in the place of a pattern where a command stands: nice /bin/r[m].
bool CommandPattern::may_become(ShellWords words) const {
  if (std::ranges::none_of(words, &ShellWord::varies)) return false;
  while (const auto inner = carried_command(words)) words = words.subspan(*inner);
  const std::size_t views = carries_command(words) ? words.size() : 1;
  for (std::size_t at = 0; at < views; ++at) {
    if (may_be_program(words[at]) && may_have_words(words.subspan(at + 1))) return true;
  }
  return false;
}

// The same of a word of a program that nobody knows. A star alone is many files, and hardly a command.
bool CommandPattern::may_become_behind(ShellWords words) const {
  for (std::size_t at = 1; at < words.size(); ++at) {
    const bool says_some = program_of(words[at]).find_first_not_of('*') != std::string_view::npos;
    if (says_some && may_be_program(words[at]) && may_have_words(words.subspan(at + 1))) return true;
  }
  return false;
}

bool CommandPattern::may_be_program(const ShellWord& word) const {
  const std::string name = lowered(program_of(word));
  const std::size_t sign = name.find_first_of(kPatternSigns);
  if (!word.varies || sign == std::string::npos) return false;
  if (ends_within_word_) {
    const std::string_view plain = std::string_view(name).substr(0, sign);
    return plain.starts_with(program_) || program_.starts_with(plain);
  }
  return may_make(name, program_);
}

bool CommandPattern::may_have_words(ShellWords further) const {
  const ProgramEntry& entry = entry_of(program_);
  std::vector<std::string_view> names;
  for (const ShellWord& word : std::span(words_).subspan(1)) {
    if (!is_option(word.text)) {
      names.push_back(word.text);
    } else if (!may_hold_flag(further, word.text)) {
      return false;
    }
  }
  const auto may_hold = [&](std::span<const std::string_view> wanted) {
    return may_hold_names(further, wanted, ends_within_word_ && !is_option(words_.back().text), entry);
  };
  if (may_hold(names)) return true;
  if (names.empty()) return false;
  const bool may_be_implied = names[0] == entry.implied_subcommand ||
                              lists(names_of_subcommand(entry, entry.implied_subcommand), names[0]);
  const auto further_names = std::span(names).subspan(may_be_implied ? 1 : 0);
  if (may_be_implied && !further_names.empty() && may_hold(further_names)) return true;
  return std::ranges::any_of(possible_subcommands(program_, further), [&](std::size_t at) {
    const std::string_view subcommand = further[at].text;
    if (may_be_alias(entry, subcommand)) return true;
    if (further_names.empty()) return may_imply_at(program_, further, at);
    return passes_subcommand_on(entry, subcommand) &&
           std::ranges::all_of(further_names, [&](std::string_view name) {
             return std::ranges::any_of(further, [&](const ShellWord& word) {
               return (ends_within_word_ ? word.text.starts_with(name) : word.text == name) ||
                      lists(names_of_subcommand(entry, name), word.text) || may_stand_for(word, name);
             });
           });
  });
}

}  // namespace deputy
