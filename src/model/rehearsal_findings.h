// Reads what tools answered, in the words the model sees. All a rehearsal report says comes from here: a Cite
// exists only where a tool showed that line. Any text is legal input: what does not look like the tool's own
// form is skipped, and next to a place where a result was cut nothing is believed, because half a line names
// a file that is not there.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "transcript/message.h"

namespace deputy {

struct Cite {
  std::string path;
  int line = 0;
  std::string text;
  auto operator<=>(const Cite&) const = default;
};

// A call of the conversation and what came back.
struct Answered {
  Call call;
  ToolResult result;
};

// What a search says in its first line: "[1,204 matching lines in 37 files; …]", "[12 files]".
struct Totals {
  std::size_t lines = 0;
  std::size_t files = 0;
};

struct Findings {
  std::vector<std::string> paths;  // of Glob; sorted, each once
  std::vector<std::string> top;    // of List: names, folders with a slash
  std::vector<Cite> hits;          // of Grep; by path and line, each once
  std::vector<Cite> lengths;       // of Grep's counts: `line` is the number of the file's lines
  std::map<std::string, std::vector<Cite>> read;             // of Read, by path; the lines that it showed
  std::map<std::string, std::string, std::less<>> troubles;  // tool → what it answered instead
  Totals in_paths;                                           // of Glob
  Totals in_hits;                                            // of Grep
  Totals in_lengths;                                         // of Grep's counts
  bool cut = false;  // a result was shortened: more is there than was shown

  // The names that are known of, from whichever tool showed them.
  std::vector<std::string> known_files() const;
};

Findings findings_of(std::span<const Answered> answered);

// The lines of a result that can be believed; `cut` is set where some were left out.
std::vector<std::string_view> believable_lines(std::string_view result, bool& cut);
Totals read_totals(std::span<const std::string_view> lines);
// "src/a.cc:12:text", a line each.
std::vector<Cite> read_hits(std::span<const std::string_view> lines);
// "src/a.cc:340", a line each.
std::vector<Cite> read_counts(std::span<const std::string_view> lines);
// "     1\ttext", a line each.
std::vector<Cite> read_numbered(std::string_view path, std::span<const std::string_view> lines);
// A path a line.
std::vector<std::string> read_paths(std::span<const std::string_view> lines);
// "src/", "a.cc  120 bytes", "b  (link)": the names of folders and files.
std::vector<std::string> read_entries(std::span<const std::string_view> lines);

// The children's parts of what Delegate answered.
struct ChildReport {
  std::string label;
  std::string state;  // "✓", "✗ error", …
  std::vector<std::string> lines;
};
std::vector<ChildReport> read_children(std::string_view result);

}  // namespace deputy
