// Text as bytes that are meant to be UTF-8: checking, mending, cutting and comparing it. Pure functions only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace deputy {

bool is_utf8(std::string_view text);
// Each byte that is not part of valid UTF-8 becomes U+FFFD; valid text comes back unchanged.
std::string to_utf8(std::string_view bytes);
// The longest prefix of at most `max_bytes` that ends on a character boundary.
std::string_view utf8_prefix(std::string_view text, std::size_t max_bytes);
// The longest suffix of at most `max_bytes` that starts on a character boundary.
std::string_view utf8_suffix(std::string_view text, std::size_t max_bytes);
std::size_t utf8_length(std::string_view text);  // code points

// At most `max_characters` code points; a cut text ends with "…" (counted).
std::string shorten(std::string_view text, std::size_t max_characters);
// White space runs, line breaks included, become one space, and none at the ends: for showing a text on one
// line.
std::string on_one_line(std::string_view text);
// Control, bidirectional and zero-width characters made visible (␛, \u{202e}); line breaks and tabs kept.
std::string made_visible(std::string_view text);
// The same, and every space but the common one too: for what a person is asked to approve.
std::string made_unmistakable(std::string_view text);
// As a generous file system or resolver takes it: case folded, composed, compatible forms made one, without
// what cannot be seen. Text that is not UTF-8 has its ASCII letters lowered.
std::string case_folded(std::string_view text);

// A text that fits `max_bytes`: head and tail on line boundaries where possible, and between them what was
// left out,
// "[… 1,204 lines (88,213 bytes) left out …]". `whole` tells whether it was short enough to stay as it was.
struct Bounded {
  std::string text;
  bool whole = true;
  std::size_t lines_left_out = 0;
  std::size_t bytes_left_out = 0;
};
Bounded bounded(std::string_view text, std::size_t max_bytes);

// Without their line breaks (\n or \r\n); no empty last line.
std::vector<std::string_view> lines_of(std::string_view text);
std::vector<std::string_view> split(std::string_view text, char separator);
std::string_view trimmed(std::string_view text);
std::string lowered(std::string_view text);        // ASCII only
std::string with_thousands(std::uint64_t number);  // 12,345
std::string short_count(std::uint64_t number);     // 890, 2.1k, 45k, 1.2M

// The candidates nearest to `word` by edit distance, best first, at most `most`, none farther than a third of
// its length (at least 2).
std::vector<std::string> nearest(std::string_view word, std::span<const std::string> candidates,
                                 std::size_t most = 3);

// A name that is safe as part of a file name: letters, digits, '-', '_' and '.' kept, the rest '-', never
// empty, never starting with '.', at most 64 bytes.
std::string safe_file_name(std::string_view label);

std::uint32_t crc32(std::string_view bytes);
std::string sha256_hex(std::string_view bytes);

}  // namespace deputy
