// What the elements of a page mean for one that is read as text. For html_markdown.cc alone.
#pragma once

#include <gumbo.h>

#include <string>
#include <string_view>

namespace deputy {

// Whether it and all in it is left out.
bool is_skipped(GumboTag tag);
// Whether it stands apart from what is before and behind it.
bool is_block(GumboTag tag);
// 1 to 6, or 0 for what is no heading.
int heading_level(GumboTag tag);
// "" where it has none.
std::string attribute(const GumboElement& element, const char* name);
// The mark around it: "**", "*", "`", or none.
std::string_view emphasis_of(GumboTag tag);

}  // namespace deputy
