#include "model/rehearsal_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <tuple>

#include "base/text.h"
#include "model/rehearsal_choice.h"
#include "transcript/event.h"

namespace deputy {
namespace {

constexpr std::string_view kWhoIsSpeaking = "Rehearsal model (fixed rules, not a language model)";
constexpr std::size_t kMostFindings = 10;
constexpr std::size_t kMostLongFiles = 3;
constexpr std::size_t kMostKinds = 5;
constexpr std::size_t kMostFolders = 3;
constexpr std::size_t kMostAsides = 2;  // troubles and nudges that are told, each
constexpr std::size_t kMostLinesPerChild = 12;
constexpr std::size_t kTextCharacters = 100;
constexpr std::size_t kAsideCharacters = 160;
constexpr std::size_t kMostAsked = 20;
constexpr std::size_t kAskedCharacters = 1000;
constexpr std::size_t kSaidLastCharacters = 4000;
constexpr std::string_view kAsked = "- asked: ";

std::string shown(std::string_view text, std::size_t most) {
  return shorten(on_one_line(made_visible(to_utf8(text))), most);
}

// A line that speaks of a password may hold one: what follows is nobody's business.
std::string_view without_secret(std::string_view text) {
  const std::size_t at = lowered(text).find("password");
  if (at == std::string_view::npos) return text;
  const std::size_t value = text.find_first_of("=:'\"", at);
  return text.substr(0,
                     value == std::string_view::npos ? at + std::string_view("password").size() : value + 1);
}

std::string counted(std::size_t number, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", with_thousands(number), number == 1 ? one : many);
}

std::string finding(const Cite& cite, std::string_view text) {
  return fmt::format("{}:{} — {}", made_visible(to_utf8(cite.path)), cite.line, text);
}

// What stands below a line, where the file was read there: a mark mostly speaks of the next thing.
std::string below(const Cite& cite, const Findings& findings) {
  const auto read = findings.read.find(cite.path);
  if (read == findings.read.end()) return {};
  for (const Cite& line : read->second) {
    if (line.line > cite.line && !trimmed(line.text).empty()) {
      return fmt::format(" (above `{}`)", shown(without_secret(line.text), kTextCharacters / 2));
    }
  }
  return {};
}

std::string of_hit(const Plan& plan, const Cite& hit, const Findings& findings) {
  if (plan.inquiry != Inquiry::risky) {
    return finding(hit, shown(without_secret(hit.text), kTextCharacters)) +
           (plan.inquiry == Inquiry::unfinished ? below(hit, findings) : "");
  }
  const std::string_view why = found_for(plan, hit.text);
  return finding(hit, fmt::format("{}{}{}", why, why.empty() ? "" : ": ",
                                  shown(without_secret(hit.text), kTextCharacters)));
}

std::vector<std::string> findings_in_words(const Plan& plan, const Findings& findings) {
  std::vector<std::string> words;
  if (plan.inquiry == Inquiry::risky) {
    for (const Cite& file : longest_files(findings, kMostLongFiles)) {
      words.push_back(finding(file, counted(static_cast<std::size_t>(file.line), "line", "lines") +
                                        (words.empty() ? ", the longest file seen" : "")));
    }
  }
  for (const Cite& hit : first_hits(plan, findings, kMostFindings))
    words.push_back(of_hit(plan, hit, findings));
  // What was read for its own sake, in the order it was chosen in.
  std::vector<std::string> read = files_asked_for(plan, findings, kMostFindings);
  if (words.empty()) {
    std::vector<std::string> paths;
    for (const auto& [path, lines] : findings.read) paths.push_back(path);
    std::ranges::move(files_that_explain(paths, kMostFindings), std::back_inserter(read));
  }
  std::set<std::string> told;
  std::size_t at = 0;
  for (const std::string& path : read) {
    const auto lines = findings.read.find(path);
    if (lines == findings.read.end() || !told.insert(path).second) continue;
    if (const auto line = telling_line(lines->second)) {
      words.insert(words.begin() + static_cast<std::ptrdiff_t>(at++),
                   finding(*line, shown(without_secret(line->text), kTextCharacters)));
    }
  }
  if (words.size() > kMostFindings) words.resize(kMostFindings);
  return words;
}

// "12 .cc, 8 .h", the most frequent first.
std::string ranking(const std::map<std::string, std::size_t>& counts, std::size_t most) {
  std::vector<std::pair<std::string, std::size_t>> ranked(counts.begin(), counts.end());
  std::ranges::sort(ranked, [](const auto& a, const auto& b) {
    return std::tie(b.second, a.first) < std::tie(a.second, b.first);
  });
  std::string text;
  for (std::size_t i = 0; i < std::min(most, ranked.size()); ++i) {
    text += fmt::format("{}{} {}", i == 0 ? "" : ", ", with_thousands(ranked[i].second),
                        shown(ranked[i].first, 40));
  }
  return text;
}

std::string kind_of_file(std::string_view path) {
  const std::string_view base = path.substr(path.rfind('/') + 1);
  const std::size_t dot = base.rfind('.');
  return dot == std::string_view::npos || dot == 0 ? "without extension" : std::string(base.substr(dot));
}

std::string survey_summary(const Findings& findings) {
  const std::vector<std::string> files = findings.known_files();
  if (files.empty() && findings.top.empty()) return "Nothing here: no tool showed a file.";
  std::map<std::string, std::size_t> kinds;
  std::map<std::string, std::size_t> folders;
  for (const std::string& path : files) {
    ++kinds[kind_of_file(path)];
    if (const std::size_t slash = path.find('/'); slash != std::string::npos)
      ++folders[path.substr(0, slash + 1)];
  }
  std::string text = counted(std::max(files.size(), findings.in_paths.files), "file", "files");
  if (!kinds.empty()) text += ": " + ranking(kinds, kMostKinds);
  if (!folders.empty()) text += fmt::format("; by folder: {}", ranking(folders, kMostFolders));
  if (!findings.top.empty()) {
    const auto in_top =
        std::ranges::count_if(findings.top, [](const std::string& name) { return name.ends_with('/'); });
    text += fmt::format("; {} at the top", counted(static_cast<std::size_t>(in_top), "folder", "folders"));
  }
  return text + ".";
}

std::string what_was_sought(const Plan& plan) {
  std::vector<std::string> words;
  for (const Mark& mark : marks_of(plan.inquiry)) words.emplace_back(mark.word);
  for (const std::string& term : plan.terms) words.push_back(fmt::format("`{}`", shown(term, 40)));
  return fmt::format("{}", fmt::join(words, ", "));
}

// How much was looked through, as far as a tool has said.
std::string searched(const Findings& findings) {
  const std::size_t files =
      std::max({findings.in_paths.files, findings.in_lengths.files, findings.known_files().size()});
  if (findings.in_lengths.lines > 0) {
    // Neither empty files nor what is no text have lines: these are fewer than there are files.
    return fmt::format(" ({} with {} searched)",
                       counted(findings.in_lengths.files, "text file", "text files"),
                       counted(findings.in_lengths.lines, "line", "lines"));
  }
  return files == 0 ? "" : fmt::format(" ({} searched)", counted(files, "file", "files"));
}

std::string hits_summary(const Plan& plan, const Findings& findings) {
  // Of mentions, Glob was asked for some names only.
  const std::string where = plan.inquiry == Inquiry::mentions ? "" : searched(findings);
  if (findings.hits.empty()) {
    if (findings.troubles.contains("Grep")) return fmt::format("Not searched for {}.", what_was_sought(plan));
    if (plan.inquiry != Inquiry::mentions && where.empty()) return "Nothing here: no tool showed a file.";
    return fmt::format("Nothing found{}: no line with {}.", where, what_was_sought(plan));
  }
  std::map<std::string, std::size_t> words;
  std::set<std::string_view> files;
  const std::size_t lines = std::max(findings.hits.size(), findings.in_hits.lines);
  std::size_t others = lines;
  for (const Cite& hit : findings.hits) {
    files.insert(hit.path);
    const std::string_view word = found_for(plan, hit.text);
    if (word.empty()) continue;
    ++words[std::string(word)];
    --others;
  }
  // The counts add up to the lines, also where the tool has counted more than it showed.
  return fmt::format("{} in {}{}: {}{}{}.", counted(lines, "line", "lines"),
                     counted(std::max(files.size(), findings.in_hits.files), "file", "files"), where,
                     ranking(words, words.size()), words.empty() || others == 0 ? "" : ", ",
                     others == 0 ? "" : counted(others, "other", "others"));
}

std::string summary(const Plan& plan, const Findings& findings) {
  if (plan.inquiry == Inquiry::survey) return survey_summary(findings);
  if (plan.inquiry == Inquiry::mentions && plan.terms.empty()) {
    return findings.read.empty() ? "None of the files that the prompt names could be read."
                                 : "The files that the prompt names:";
  }
  return hits_summary(plan, findings);
}

std::string_view question_of(Inquiry inquiry) {
  switch (inquiry) {
    case Inquiry::survey:
      return "what is here";
    case Inquiry::unfinished:
      return "what is unfinished";
    case Inquiry::risky:
      return "what is large or risky";
    case Inquiry::mentions:
      return "where it is mentioned";
  }
  return "what is here";
}

// What the reader has to know about the report itself.
std::vector<std::string> asides(const Findings& findings, const std::vector<std::string>& nudges) {
  std::vector<std::string> lines;
  for (const auto& [tool, answer] : findings.troubles) {
    if (lines.size() < kMostAsides)
      lines.push_back(fmt::format("{} did not help: {}", shown(tool, 40), shown(answer, kAsideCharacters)));
  }
  for (std::size_t i = nudges.size() - std::min(nudges.size(), kMostAsides); i < nudges.size(); ++i) {
    lines.push_back(fmt::format("Told meanwhile: {}", shown(nudges[i], kAsideCharacters)));
  }
  if (findings.cut) lines.emplace_back("Some results came shortened: the counts are of what was shown.");
  if (!findings.read.empty())
    lines.push_back(fmt::format("{} read.", counted(findings.read.size(), "file", "files")));
  return lines;
}

bool is_item(std::string_view line) { return line.starts_with("- "); }

// As Markdown: what is no item of a list is a paragraph of its own.
std::string in_paragraphs(const std::vector<std::string>& lines) {
  std::string text;
  for (std::size_t at = 0; at < lines.size(); ++at) {
    if (at > 0) text += is_item(lines[at - 1]) && is_item(lines[at]) ? "\n" : "\n\n";
    text += lines[at];
  }
  return text;
}

}  // namespace

std::string note_text(const Plan& plan, const Findings& findings) {
  const std::vector<std::string> words = findings_in_words(plan, findings);
  return words.empty() ? fmt::format("{}: {}", question_of(plan.inquiry), summary(plan, findings))
                       : fmt::format("{}: {}", question_of(plan.inquiry), words.front());
}

std::string report_text(const Plan& plan, const Findings& findings, const std::vector<std::string>& nudges) {
  std::vector<std::string> lines{fmt::format("{}: {}.", kWhoIsSpeaking, question_of(plan.inquiry)),
                                 summary(plan, findings)};
  for (const std::string& words : findings_in_words(plan, findings))
    lines.push_back(fmt::format("- {}", words));
  std::ranges::move(asides(findings, nudges), std::back_inserter(lines));
  return in_paragraphs(lines);
}

std::string merged_text(const std::vector<ChildReport>& children) {
  const auto whole =
      std::ranges::count_if(children, [](const ChildReport& child) { return child.state.starts_with("✓"); });
  std::vector<std::string> lines{
      fmt::format("{}: {} children looked, {} finished.", kWhoIsSpeaking, children.size(), whole)};
  for (const ChildReport& child : children) {
    lines.push_back(fmt::format("**{}** {}", shown(child.label, 40), shown(child.state, 80)));
    std::size_t told = 0;
    for (const std::string& line : child.lines) {
      // Said once, at the top.
      if (line.starts_with(kWhoIsSpeaking) || told == kMostLinesPerChild) continue;
      lines.push_back(made_visible(to_utf8(line)));
      ++told;
    }
  }
  return in_paragraphs(lines);
}

std::string summary_text(std::span<const Message> messages) {
  std::vector<std::string> asked;
  std::map<std::string, std::size_t> calls;
  std::string_view said_last;
  for (const Message& message : messages) {
    if (const auto before = summary_told_by(message)) {
      for (const std::string_view line : lines_of(*before)) {
        if (line.starts_with(kAsked)) asked.emplace_back(line.substr(kAsked.size()));
      }
    } else if (message.role == Role::user && message.source != Source::runtime &&
               message.source != Source::child) {
      asked.push_back(shorten(on_one_line(to_utf8(message.text)), kAskedCharacters));
    }
    if (message.role != Role::assistant) continue;
    for (const Call& call : message.calls) ++calls[call.name];
    if (!trimmed(message.text).empty()) said_last = message.text;
  }
  std::string text = fmt::format("{}: what was said before.\n\n", kWhoIsSpeaking);
  for (std::size_t i = asked.size() - std::min(asked.size(), kMostAsked); i < asked.size(); ++i)
    text += fmt::format("{}{}\n", kAsked, asked[i]);
  std::vector<std::string> counts;
  for (const auto& [tool, count] : calls) counts.push_back(fmt::format("{} {}", count, tool));
  if (!counts.empty()) text += fmt::format("\nTools called: {}.\n", fmt::join(counts, ", "));
  if (!said_last.empty())
    text += fmt::format("\nSaid last:\n\n{}\n", shorten(to_utf8(said_last), kSaidLastCharacters));
  text.pop_back();
  return text;
}

std::string last_asked_in(std::string_view summary) {
  std::string_view last;
  for (const std::string_view line : lines_of(summary)) {
    if (line.starts_with(kAsked)) last = line.substr(kAsked.size());
  }
  return std::string(last);
}

}  // namespace deputy
