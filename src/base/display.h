// How text stands on a terminal's screen: by graphemes, each as wide as the terminal draws it. Pure functions
// over valid UTF-8.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace deputy {

// Text that may stand on a screen: nothing in it moves the cursor or hides (see made_visible). Line breaks
// stay, tabs become spaces; what only joins or colours emoji is left out, so that their width is certain.
std::string for_screen(std::string_view text);

// Where the grapheme that starts at `at` ends, and where the one that ends at `at` starts.
std::size_t grapheme_end(std::string_view text, std::size_t at);
std::size_t grapheme_start(std::string_view text, std::size_t at);

// In columns, of text without line breaks.
std::size_t display_width(std::string_view text);
// The longest prefix of whole graphemes that is at most so wide.
std::string_view display_prefix(std::string_view text, std::size_t columns);
// At most so wide; a cut text ends with "…".
std::string cut_to_width(std::string_view text, std::size_t columns);

}  // namespace deputy
