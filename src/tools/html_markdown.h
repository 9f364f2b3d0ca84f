// A web page as Markdown that a model can read: headings, paragraphs, lists, tables, code and links stay;
// scripts, styles and forms go. A pure function; whatever the bytes, it takes time in proportion to them. Of
// a page with more than kMaxHtmlTags tags only the part before that is taken, and `cut` says so.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace deputy {

inline constexpr std::size_t kMaxHtmlTags = 30'000;

struct Page {
  std::string title;
  std::string markdown;
  bool cut = false;
};

// `resolve` turns the address of a link into one that stands alone; an empty answer drops the link and keeps
// its text.
using ResolveLink = std::function<std::string(std::string_view)>;
Page page_of(std::string_view html, const ResolveLink& resolve);

}  // namespace deputy
