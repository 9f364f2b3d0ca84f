#include "model/rehearsal_choice.h"

#include <algorithm>
#include <map>
#include <span>
#include <tuple>

#include "base/text.h"

namespace deputy {
namespace {

constexpr Mark kUnfinished[] = {
    {"FIXME", R"(\bFIXME\b)"},          {"XXX", R"(\bXXX\b)"},   {"HACK", R"(\bHACK\b)"},
    {"unimplemented", "unimplemented"}, {"TODO", R"(\bTODO\b)"},
};
constexpr Mark kRisky[] = {
    {"rm -rf", "rm -rf"},        {"chmod 777", "chmod 777"},   {"strcpy", "strcpy"},
    {"eval(", R"(\beval\()"},    {"system(", R"(\bsystem\()"}, {"password", "password"},
    {"unsafe", R"(\bunsafe\b)"},
};

constexpr std::string_view kBuildFiles[] = {
    "cmakelists.txt", "package.json", "cargo.toml",       "pyproject.toml", "go.mod",
    "pom.xml",        "makefile",     "build.gradle",     "setup.py",       "composer.json",
    "gemfile",        "meson.build",  "build.gradle.kts", "dockerfile"};
constexpr std::string_view kEntryNames[] = {"main", "__main__", "index", "app", "lib", "mod"};
constexpr std::string_view kUnread[] = {"png",   "jpg", "jpeg",   "gif", "ico",   "pdf",  "zip", "gz",
                                        "xz",    "tar", "so",     "o",   "a",     "exe",  "bin", "woff",
                                        "woff2", "ttf", "db",     "jar", "class", "lock", "mp3", "mp4",
                                        "wasm",  "pyc", "sqlite", "svg", "map",   "webp", "bz2", "7z"};

constexpr std::string_view kTelling[] = {
    "project(", "\"name\"", "name =", "name:", "module ", "<artifactId>", "fn main", "main("};
constexpr std::string_view kPreamble[] = {"#include", "#pragma", "#!",       "#ifndef", "#define", "import ",
                                          "from ",    "using ",  "package ", "require", "\"use "};

std::string_view base_of(std::string_view path) { return path.substr(path.rfind('/') + 1); }

std::string_view extension_of(std::string_view path) {
  const std::string_view base = base_of(path);
  const std::size_t dot = base.rfind('.');
  return dot == std::string_view::npos || dot == 0 ? std::string_view() : base.substr(dot + 1);
}

std::string_view stem_of(std::string_view path) {
  const std::string_view base = base_of(path);
  return base.substr(0, base.find('.', 1));
}

enum class FileKind { readme, build, entry, prose, other, unread };

FileKind kind_of(std::string_view path) {
  const std::string name = lowered(base_of(path));
  const auto is_in = [](std::span<const std::string_view> list, std::string_view word) {
    return std::ranges::find(list, word) != list.end();
  };
  if (path.ends_with('/') || is_in(kUnread, lowered(extension_of(path)))) return FileKind::unread;
  if (name.starts_with("readme")) return FileKind::readme;
  if (is_in(kBuildFiles, name)) return FileKind::build;
  if (is_in(kEntryNames, lowered(stem_of(path)))) return FileKind::entry;
  return extension_of(path) == "md" ? FileKind::prose : FileKind::other;
}

// As pattern_for searches: from the beginning of a word on, in any case.
bool contains_word(std::string_view text, std::string_view word) {
  const std::string in = lowered(text);
  const std::string sought = lowered(word);
  const auto in_a_word = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; };
  for (std::size_t at = in.find(sought); at != std::string::npos; at = in.find(sought, at + 1)) {
    if (at == 0 || !in_a_word(in[at - 1]) || sought.empty() || !in_a_word(sought.front())) return true;
  }
  return false;
}

std::size_t terms_in(const Plan& plan, std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      plan.terms, [text](const std::string& term) { return contains_word(text, term); }));
}

// Smaller is more telling.
std::size_t weight_of(const Plan& plan, const Cite& hit) {
  if (plan.inquiry == Inquiry::mentions) {
    const auto first = std::ranges::find_if(
        plan.terms, [&hit](const std::string& term) { return contains_word(hit.text, term); });
    const auto rank = static_cast<std::size_t>(first - plan.terms.begin());
    return (plan.terms.size() - terms_in(plan, hit.text)) * (plan.terms.size() + 1) + rank;
  }
  const auto marks = marks_of(plan.inquiry);
  const auto found =
      std::ranges::find_if(marks, [&hit](const Mark& mark) { return hit.text.contains(mark.word); });
  return static_cast<std::size_t>(found - marks.begin());
}

// How many of the terms a file has not: files that have most of them are what was meant.
std::map<std::string_view, std::size_t> terms_missing(const Plan& plan, const std::vector<Cite>& hits) {
  std::map<std::string_view, std::string> words;
  for (const Cite& hit : hits) words[hit.path].append(hit.text).append(1, '\n');
  std::map<std::string_view, std::size_t> missing;
  for (const auto& [path, text] : words) missing[path] = plan.terms.size() - terms_in(plan, text);
  return missing;
}

// What stands at the head of most files and says nothing about this one.
bool is_preamble(std::string_view text) {
  const std::string_view line = trimmed(text);
  if (line.size() < 4 || line.contains("Copyright") || line.contains("SPDX")) return true;
  return std::ranges::any_of(kPreamble, [line](std::string_view start) { return line.starts_with(start); });
}

template <class Fits>
std::optional<Cite> first_where(const std::vector<Cite>& lines, Fits fits) {
  const auto found = std::ranges::find_if(lines, fits, &Cite::text);
  return found == lines.end() ? std::nullopt : std::optional(*found);
}

}  // namespace

std::span<const Mark> marks_of(Inquiry inquiry) {
  if (inquiry == Inquiry::unfinished) return kUnfinished;
  if (inquiry == Inquiry::risky) return kRisky;
  return {};
}

std::string_view found_for(const Plan& plan, std::string_view text) {
  for (const Mark& mark : marks_of(plan.inquiry)) {
    if (contains_word(text, mark.word)) return mark.word;
  }
  for (const std::string& term : plan.terms) {
    if (contains_word(text, term)) return term;
  }
  return {};
}

std::vector<std::string> files_that_explain(const std::vector<std::string>& paths, std::size_t most) {
  // One of each kind before a second of any, what lies high before what lies deep.
  std::vector<std::tuple<FileKind, std::ptrdiff_t, const std::string*>> ranked;
  for (const std::string& path : paths) {
    const FileKind kind = kind_of(path);
    if (kind != FileKind::unread) ranked.emplace_back(kind, std::ranges::count(path, '/'), &path);
  }
  const auto by_name = [](const auto& entry) {
    const auto& [kind, depth, path] = entry;
    return std::tuple(kind, depth, std::string_view(*path));
  };
  std::ranges::sort(ranked, {}, by_name);
  std::map<FileKind, std::size_t> seen;
  std::vector<std::tuple<std::size_t, std::size_t, const std::string*>> by_round;
  for (const auto& [kind, depth, path] : ranked) by_round.emplace_back(seen[kind]++, by_round.size(), path);
  std::ranges::sort(by_round);
  std::vector<std::string> chosen;
  for (const auto& [round, rank, path] : by_round) {
    if (chosen.size() < most) chosen.push_back(*path);
  }
  return chosen;
}

std::vector<std::string> files_asked_for(const Plan& plan, const Findings& findings, std::size_t most) {
  const std::vector<std::string> known = findings.known_files();
  std::vector<std::string> files;
  for (const std::string& wanted : plan.files) {
    for (const std::string& path : known) {
      if (path != wanted && !path.ends_with("/" + wanted)) continue;
      files.push_back(path);
      break;
    }
    if (known.empty()) files.push_back(wanted);
  }
  if (files.size() > most) files.resize(most);
  return files;
}

std::vector<Cite> first_hits(const Plan& plan, const Findings& findings, std::size_t most) {
  const auto missing = terms_missing(plan, findings.hits);
  // The pointers, into one vector by path and line, decide between equals.
  std::vector<std::tuple<std::size_t, std::size_t, const Cite*>> ranked;
  for (const Cite& hit : findings.hits) ranked.emplace_back(missing.at(hit.path), weight_of(plan, hit), &hit);
  std::ranges::sort(ranked);
  // Of a file that has what was meant, two lines tell more than one.
  const std::size_t at_a_time = plan.inquiry == Inquiry::mentions ? 2 : 1;
  std::map<std::string_view, std::size_t> seen;
  std::vector<std::tuple<std::size_t, std::size_t, const Cite*>> by_round;
  for (const auto& [file, line, hit] : ranked) {
    by_round.emplace_back(seen[hit->path]++ / at_a_time, by_round.size(), hit);
  }
  std::ranges::sort(by_round);
  std::vector<Cite> chosen;
  for (const auto& [round, rank, hit] : by_round) {
    if (chosen.size() < most) chosen.push_back(*hit);
  }
  return chosen;
}

std::vector<Cite> longest_files(const Findings& findings, std::size_t most) {
  std::vector<Cite> files = findings.lengths;
  std::ranges::sort(files, [](const Cite& a, const Cite& b) {
    return std::tie(b.line, a.path) < std::tie(a.line, b.path);
  });
  if (files.size() > most) files.resize(most);
  return files;
}

std::optional<Cite> telling_line(const std::vector<Cite>& lines) {
  if (lines.empty()) return std::nullopt;
  const FileKind kind = kind_of(lines.front().path);
  if (kind == FileKind::readme || kind == FileKind::prose) {
    if (auto heading = first_where(lines, [](std::string_view text) { return text.starts_with("#"); }))
      return heading;
  }
  if (kind == FileKind::build || kind == FileKind::entry) {
    for (const std::string_view telling : kTelling) {
      if (auto line =
              first_where(lines, [telling](std::string_view text) { return text.contains(telling); })) {
        return line;
      }
    }
  }
  if (auto line = first_where(lines, [](std::string_view text) { return !is_preamble(text); })) return line;
  return first_where(lines, [](std::string_view text) { return !trimmed(text).empty(); });
}

}  // namespace deputy
