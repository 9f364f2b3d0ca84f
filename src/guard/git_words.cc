#include "guard/git_words.h"

#include <algorithm>
#include <string_view>

#include "guard/option_words.h"
#include "guard/program_table.h"

namespace deputy {
namespace {

using Words = std::span<const ShellWord>;

bool is_one_of(const ShellWord& word, const auto& names) {
  return std::ranges::find(names, word.text) != std::end(names);
}

// The options of git itself that take the word after them for their value.
constexpr std::string_view kWithValue[] = {"-C",
                                           "-c",
                                           "--git-dir",
                                           "--work-tree",
                                           "--namespace",
                                           "--config-env",
                                           "--attr-source",
                                           "--super-prefix",
                                           "--shallow-file"};

// "git" and its own options before the subcommand; the size of all words if there is none.
std::size_t git_subcommand(Words words) {
  std::size_t at = 1;
  while (at < words.size() && is_option(words[at])) at += is_one_of(words[at], kWithValue) ? 2 : 1;
  return std::min(at, words.size());
}

// One that is not known might take the next word for its value, which then only looks like the subcommand.
bool is_known_option(const ShellWord& word) {
  constexpr std::string_view kWithout[] = {"-v",
                                           "--version",
                                           "-h",
                                           "--help",
                                           "-p",
                                           "--paginate",
                                           "-P",
                                           "--no-pager",
                                           "--bare",
                                           "--no-replace-objects",
                                           "--html-path",
                                           "--man-path",
                                           "--info-path",
                                           "--exec-path",
                                           "--no-optional-locks",
                                           "--no-advice",
                                           "--no-lazy-fetch",
                                           "--literal-pathspecs",
                                           "--glob-pathspecs",
                                           "--noglob-pathspecs",
                                           "--icase-pathspecs"};
  return is_one_of(word, kWithValue) || is_one_of(word, kWithout) ||
         (word.text.starts_with("--") && word.text.contains('='));
}

// Without their values.
bool has_unknown_option(Words before_subcommand) {
  for (std::size_t at = 1; at < before_subcommand.size(); ++at) {
    if (!is_known_option(before_subcommand[at])) return true;
    if (is_one_of(before_subcommand[at], kWithValue)) ++at;
  }
  return false;
}

bool has_any_letter(Words words, std::string_view letters) {
  return std::ranges::any_of(words, [&](const ShellWord& word) {
    return std::ranges::any_of(letters, [&](char letter) { return has_letter(word.text, letter); });
  });
}

// Only then no setting is made, which may be an alias or a program that git runs later, and no editor is run.
bool config_only_reads(Words further) {
  constexpr std::string_view kNoAction[] = {"--global", "--system",      "--local",      "--worktree", "-z",
                                            "--null",   "--show-origin", "--show-scope", "--name-only"};
  constexpr std::string_view kReading[] = {"--get",  "--get-all", "--get-regexp", "--get-urlmatch",
                                           "--list", "-l",        "get",          "list"};
  constexpr std::string_view kChanging[] = {"set", "edit", "unset", "rename-section", "remove-section"};
  while (!further.empty() && is_one_of(further[0], kNoAction)) further = further.subspan(1);
  if (further.empty() || is_one_of(further[0], kReading)) return true;
  return further.size() == 1 && !further[0].varies && !is_option(further[0]) &&
         !is_one_of(further[0], kChanging);
}

}  // namespace

bool git_runs_hidden_code(Words words) {
  const std::size_t at = git_subcommand(words);
  const bool is_configured = std::ranges::any_of(words.subspan(1, at - 1), [](const ShellWord& word) {
    return word.text.starts_with("-c") || word.text.starts_with("--e");
  });
  const bool has_transport =
      std::ranges::any_of(words, [](const ShellWord& word) { return word.text.contains("ext::"); });
  if (is_configured || has_transport || has_unknown_option(words.first(at))) return true;
  if (at == words.size()) return false;
  const std::string_view subcommand = words[at].text;
  const Words further = words.subspan(at + 1);
  const std::string_view running = git_running_word(subcommand);
  return is_git_runner(subcommand) || has_any_letter(further, git_running_letters(subcommand)) ||
         (!running.empty() && std::ranges::any_of(further, [&](const ShellWord& word) {
           return word.varies || word.text == running;
         }));
}

bool git_may_run_anything(Words words) {
  const std::size_t at = git_subcommand(words);
  if (at == words.size()) return false;
  const std::string_view subcommand = words[at].text;
  if (subcommand == "config") return !config_only_reads(words.subspan(at + 1));
  return !is_plain_git_command(subcommand) && !is_known_git_command(subcommand);
}

bool git_is_tame(Words words, std::size_t covered) {
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

}  // namespace deputy
