#include "page_map.h"

namespace deputy {
namespace {

std::uint32_t number_at(std::string_view file, std::size_t at, std::size_t length) {
  std::uint32_t number = 0;
  for (const char byte : file.substr(at, length)) number = number << 8 | static_cast<std::uint8_t>(byte);
  return number;
}

std::int64_t varint_at(std::string_view file, std::size_t& at) {
  std::int64_t number = 0;
  for (;;) {
    const auto byte = static_cast<std::uint8_t>(file.at(at++));
    number = number << 7 | (byte & 0x7f);
    if (byte < 0x80) return number;  // none of nine bytes here
  }
}

// How much of a row stays on its page.
std::size_t kept_on_page(std::size_t bytes) {
  constexpr std::size_t kMost = kPage - 35;
  constexpr std::size_t kLeast = (kPage - 12) * 32 / 255 - 23;
  if (bytes <= kMost) return bytes;
  const std::size_t fitting = kLeast + (bytes - kLeast) % (kPage - 4);
  return fitting <= kMost ? fitting : kLeast;
}

}  // namespace

PageMap::PageMap(std::string_view file, std::int64_t root) { walk(file, static_cast<std::uint32_t>(root)); }

void PageMap::walk(std::string_view file, std::uint32_t page) {
  constexpr std::uint32_t kLeaf = 13;
  const std::size_t start = (page - 1) * kPage;
  const bool is_leaf = number_at(file, start, 1) == kLeaf;
  const std::size_t header = is_leaf ? 8 : 12;
  if (!is_leaf) leading.insert(page);
  for (std::uint32_t cell = 0; cell < number_at(file, start + 3, 2); ++cell) {
    std::size_t at = start + number_at(file, start + header + (cell * 2), 2);
    if (!is_leaf) {
      ways.push_back(at);
      walk(file, number_at(file, at, 4));
      continue;
    }
    const auto bytes = static_cast<std::size_t>(varint_at(file, at));
    const auto seq = varint_at(file, at);
    records[page].push_back(seq);
    const std::size_t kept = kept_on_page(bytes);
    if (kept == bytes) continue;
    for (auto more = number_at(file, at + kept, 4); more != 0; more = number_at(file, (more - 1) * kPage, 4))
      records[more].push_back(seq);
  }
  if (is_leaf) return;
  ways.push_back(start + 8);
  walk(file, number_at(file, start + 8, 4));
}

std::set<std::uint32_t> pages_in_log(std::string_view log) {
  constexpr std::size_t kLogHeader = 32;
  constexpr std::size_t kFrameHeader = 24;
  std::set<std::uint32_t> pages;
  for (std::size_t at = kLogHeader; at + kFrameHeader + kPage <= log.size(); at += kFrameHeader + kPage)
    pages.insert(number_at(log, at, 4));
  return pages;
}

}  // namespace deputy
