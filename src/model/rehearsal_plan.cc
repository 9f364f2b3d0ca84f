#include "model/rehearsal_plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>

#include "base/text.h"

namespace deputy {
namespace {

constexpr std::size_t kTaskBytes = 4000;
constexpr std::size_t kMostTerms = 4;
constexpr std::size_t kMostFiles = 4;
constexpr std::size_t kShortestTerm = 4;
constexpr std::size_t kLongestTerm = 80;

struct Cues {
  Inquiry inquiry;
  std::string_view phrase;
  std::span<const std::string_view> words;  // beginnings
};
constexpr std::string_view kUnfinishedWords[] = {"unfinished", "todo",          "fixme",
                                                 "incomplet",  "unimplemented", "stub"};
constexpr std::string_view kRiskyWords[] = {"risk",  "danger",  "vulnerab", "unsafe",  "security",
                                            "large", "longest", "bigges",   "largest", "secret"};
constexpr std::string_view kSurveyWords[] = {"survey",  "overview", "summar",    "describe", "structure",
                                             "explore", "layout",   "repositor", "codebase"};
constexpr Cues kCues[] = {
    {Inquiry::unfinished, "what is unfinished", kUnfinishedWords},
    {Inquiry::risky, "what is large or risky", kRiskyWords},
    {Inquiry::survey, "what is here", kSurveyWords},
};
constexpr std::string_view kDelegateWords[] = {"delegat",  "parallel",   "subagent",
                                               "children", "concurrent", "independent"};

// Words that say how to answer rather than what to look for.
constexpr std::string_view kStopWords[] = {
    "about",    "after",    "again",     "also",     "answer", "before",  "below",    "between",  "briefly",
    "cite",     "cites",    "code",      "could",    "does",   "each",    "every",    "exactly",  "explain",
    "file",     "files",    "find",      "first",    "folder", "folders", "from",     "give",     "have",
    "hello",    "here",     "into",      "just",     "know",   "less",    "like",     "line",     "lines",
    "list",     "look",     "looking",   "made",     "make",   "many",    "more",     "most",     "much",
    "must",     "need",     "only",      "other",    "over",   "path",    "paths",    "please",   "project",
    "read",     "report",   "reports",   "same",     "search", "should",  "show",     "some",     "such",
    "task",     "tell",     "than",      "that",     "their",  "them",    "then",     "there",    "these",
    "they",     "thing",    "things",    "this",     "those",  "through", "under",    "used",     "using",
    "very",     "want",     "were",      "what",     "when",   "where",   "which",    "while",    "will",
    "with",     "work",     "works",     "would",    "write",  "your",    "parallel", "delegate", "subagents",
    "children", "subagent", "mentioned", "mentions", "mention"};
constexpr std::string_view kPlainFileNames[] = {"README", "Makefile", "Dockerfile", "LICENSE", "CHANGELOG"};

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name_character(char c) { return is_letter(c) || is_digit(c) || c == '_'; }
bool is_path_character(char c) {
  return is_name_character(c) || c == '.' || c == '/' || c == '-' || c == '+';
}

void add(std::vector<std::string>& to, std::string_view text, std::size_t most) {
  if (to.size() >= most || text.empty() || std::ranges::find(to, text) != to.end()) return;
  to.emplace_back(text);
}

// "=== src/a.cc ===" stands above each context file.
std::string_view context_path(std::string_view line) {
  constexpr std::string_view kBefore = "=== ";
  constexpr std::string_view kAfter = " ===";
  if (line.size() <= kBefore.size() + kAfter.size() || !line.starts_with(kBefore) || !line.ends_with(kAfter))
    return {};
  return line.substr(kBefore.size(), line.size() - kBefore.size() - kAfter.size());
}

struct Wording {
  std::string text;
  std::vector<std::string> context;  // the files put before it
};

// Nothing marks where the last context file ends; a task of one paragraph is the rule.
Wording task_of(std::string_view prompt) {
  Wording task;
  for (const std::string_view line : lines_of(prompt)) add(task.context, context_path(line), kMostFiles);
  std::string_view words = trimmed(utf8_suffix(prompt, kTaskBytes));
  if (!task.context.empty()) {
    const std::size_t paragraph = words.rfind("\n\n");
    if (paragraph != std::string_view::npos) words.remove_prefix(paragraph + 2);
  }
  // Fenced blocks are material.
  bool fenced = false;
  for (const std::string_view line : lines_of(words)) {
    if (trimmed(line).starts_with("```")) {
      fenced = !fenced;
    } else if (!fenced) {
      task.text.append(line).append(1, '\n');
    }
  }
  // A fence that was cut off, or never closed, must not swallow everything.
  if (trimmed(task.text).empty()) task.text = words;
  return task;
}

template <class Fits>
std::vector<std::string_view> runs_of(std::string_view text, Fits fits) {
  std::vector<std::string_view> runs;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && fits(text[end])) ++end;
    if (end > at) runs.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return runs;
}

bool names_a_file(std::string_view token) {
  const std::size_t slash = token.rfind('/');
  const std::string_view base = slash == std::string_view::npos ? token : token.substr(slash + 1);
  if (std::ranges::find(kPlainFileNames, base) != std::end(kPlainFileNames)) return true;
  const std::size_t dot = base.rfind('.');
  if (dot == std::string_view::npos || dot < 2) return false;
  const std::string_view extension = base.substr(dot + 1);
  return !extension.empty() && extension.size() <= 5 && is_letter(extension.front()) &&
         std::ranges::all_of(extension, is_name_character);
}

std::vector<std::string> files_named_in(std::string_view task) {
  std::vector<std::string> files;
  for (std::string_view token : runs_of(task, is_path_character)) {
    while (token.ends_with('.')) token.remove_suffix(1);
    while (token.starts_with("./")) token.remove_prefix(2);
    // What is absolute or leads upward is for a person to look at; "//" is what is left of an address.
    if (token.starts_with('/') || token.contains("..") || token.contains("//")) continue;
    if (names_a_file(token)) add(files, token, kMostFiles);
  }
  return files;
}

std::vector<std::string> quoted_in(std::string_view task) {
  std::vector<std::string> terms;
  for (const char mark : {'`', '"'}) {
    const std::vector<std::string_view> parts = split(task, mark);
    for (std::size_t i = 1; i + 1 < parts.size(); i += 2) {
      const std::string_view term = trimmed(parts[i]);
      if (term.size() < 2 || term.size() > kLongestTerm || term.contains('\n') || names_a_file(term))
        continue;
      add(terms, term, kMostTerms);
    }
  }
  return terms;
}

bool is_identifier(std::string_view word) {
  bool lower_before = false;
  for (const char c : word) {
    if (c == '_') return true;
    if (c >= 'A' && c <= 'Z' && lower_before) return true;
    lower_before = c >= 'a' && c <= 'z';
  }
  return false;
}

bool is_stop_word(std::string_view word) {
  return std::ranges::find(kStopWords, word) != std::end(kStopWords);
}

std::vector<std::string> terms_in(std::string_view task, std::span<const std::string> files) {
  std::vector<std::string> terms = quoted_in(task);
  const std::vector<std::string_view> words = runs_of(task, is_name_character);
  for (const std::string_view word : words) {
    if (word.size() >= kShortestTerm && word.size() <= kLongestTerm && is_identifier(word))
      add(terms, word, kMostTerms);
  }
  for (const std::string_view word : words) {
    if (word.size() < kShortestTerm || word.size() > kLongestTerm || is_digit(word.front())) continue;
    if (is_stop_word(lowered(word))) continue;
    // Part of a file's name: the file itself is read.
    if (std::ranges::any_of(files, [word](const std::string& file) { return file.contains(word); })) continue;
    if (std::ranges::any_of(
            terms, [word](const std::string& term) { return lowered(term).contains(lowered(word)); }))
      continue;
    add(terms, word, kMostTerms);
  }
  return terms;
}

std::ptrdiff_t count_beginnings(std::span<const std::string_view> words,
                                std::span<const std::string_view> beginnings) {
  return std::ranges::count_if(words, [beginnings](std::string_view word) {
    return std::ranges::any_of(beginnings,
                               [word](std::string_view beginning) { return word.starts_with(beginning); });
  });
}

// The phrase of the demo decides; otherwise the most cues, and none where something was quoted: that is what
// is wanted.
std::optional<Inquiry> cued(std::string_view task) {
  const std::string line = on_one_line(lowered(task));
  for (const Cues& cues : kCues) {
    if (line.contains(cues.phrase)) return cues.inquiry;
  }
  if (!quoted_in(task).empty()) return std::nullopt;
  const std::vector<std::string_view> words = runs_of(line, is_name_character);
  std::optional<Inquiry> best;
  std::ptrdiff_t most = 0;
  for (const Cues& cues : kCues) {
    const std::ptrdiff_t count = count_beginnings(words, cues.words);
    if (count <= most) continue;
    most = count;
    best = cues.inquiry;
  }
  return best;
}

}  // namespace

Plan plan_for(std::string_view prompt) {
  const auto [task, context] = task_of(prompt);
  Plan plan;
  plan.files = context;
  for (const std::string& file : files_named_in(task)) add(plan.files, file, kMostFiles);
  if (const auto inquiry = cued(task)) {
    plan.inquiry = *inquiry;
    return plan;
  }
  plan.terms = terms_in(task, plan.files);
  // Without a word to look for there is still the folder.
  plan.inquiry = plan.terms.empty() && plan.files.empty() ? Inquiry::survey : Inquiry::mentions;
  return plan;
}

std::vector<RehearsalTask> demo_tasks() {
  return {
      {"survey",
       "What is here? Count the files by kind and folder, and find those that explain the rest. Cite "
       "path:line."},
      {"unfinished",
       "What is unfinished? Find the marks that people leave behind, read around them, cite path:line."},
      {"risks",
       "What is large or risky? Find the longest files and the lines that deserve a second look. Cite "
       "path:line."},
  };
}

std::vector<RehearsalTask> tasks_for(std::string_view prompt) {
  const std::string task = lowered(task_of(prompt).text);
  const Plan plan = plan_for(prompt);
  const bool asked_for = count_beginnings(runs_of(task, is_name_character), kDelegateWords) > 0;
  const bool general = plan.inquiry == Inquiry::survey && plan.files.empty();
  if (!asked_for && !general) return {};
  std::vector<RehearsalTask> tasks = demo_tasks();
  if (plan.terms.empty()) return tasks;
  std::string mentions = "Where are these mentioned:";
  for (const std::string& term : plan.terms) mentions += fmt::format(" `{}`", term);
  tasks.back() = {"mentions", mentions + ". Cite path:line."};
  return tasks;
}

std::string pattern_for(const std::vector<std::string>& terms) {
  std::string pattern;
  for (const std::string& term : terms) {
    if (!pattern.empty()) pattern += '|';
    // Not in the middle of a word; its ending is free: a plural is a mention too.
    if (!term.empty() && is_name_character(term.front())) pattern += "\\b";
    for (const char c : term) {
      if (std::string_view("\\.+*?()|[]{}^$").contains(c)) pattern += '\\';
      pattern += c;
    }
  }
  return pattern;
}

}  // namespace deputy
