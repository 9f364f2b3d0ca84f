// What ripgrep prints, as values. Pure, and forgiving: what is cut off, unknown or no JSON is left out, never
// guessed at. Paths come back as ripgrep wrote them, byte for byte, without a leading "./"; nothing here says
// that they may be shown.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace deputy {

struct FoundLine {
  std::int64_t number = 0;
  bool is_match = true;  // else it stands around one
  std::string text;      // valid UTF-8 without its line break, shortened around the first match
};

struct FoundFile {
  std::string path;
  std::vector<FoundLine> lines;
  std::size_t matches = 0;  // lines that match
};

inline constexpr std::size_t kMaxFoundCharacters = 500;  // of a line's text

// Of `rg --json`: files in the order in which they begin.
std::vector<FoundFile> parse_rg_json(std::string_view output);
// Of `rg --null --files` and `--files-with-matches`.
std::vector<std::string> parse_rg_paths(std::string_view output);
// Of `rg --null --with-filename --count`: files without lines.
std::vector<FoundFile> parse_rg_counts(std::string_view output);

}  // namespace deputy
