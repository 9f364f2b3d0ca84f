#include "app/replay_names.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace deputy {
namespace {

constexpr std::size_t kBytes = std::numeric_limits<unsigned char>::max() + std::size_t{1};

std::size_t first_byte_of(std::string_view text) { return static_cast<unsigned char>(text.front()); }

}  // namespace

Names::Names(std::vector<std::string> names) : can_begin_(kBytes) {
  std::ranges::sort(names);
  const auto [first, last] = std::ranges::unique(names);
  names.erase(first, last);
  for (std::string& name : names) {
    if (name.empty()) continue;
    can_begin_[first_byte_of(name)] = true;
    longest_ = std::max(longest_, name.size());
    std::size_t within = names_.size();
    while (within > 0 && !name.starts_with(names_[within - 1].text)) within = names_[within - 1].within;
    names_.push_back({std::move(name), within});
  }
}

// Of those that come before it in their order the last, or one that this begins with.
const std::string* Names::at_start_of(std::string_view text) const {
  if (!can_begin_[first_byte_of(text)]) return nullptr;
  text = text.substr(0, longest_);
  const auto behind = std::ranges::upper_bound(names_, text, {}, &Name::text);
  auto found = static_cast<std::size_t>(behind - names_.begin());
  while (found > 0 && !text.starts_with(names_[found - 1].text)) found = names_[found - 1].within;
  return found == 0 ? nullptr : &names_[found - 1].text;
}

std::string Names::replaced(std::string_view text, const Substitute& by) const {
  std::string result;
  result.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::string* name = at_start_of(text.substr(at));
    const std::string_view other = name ? by(*name) : "";
    const std::size_t length = name ? name->size() : 1;
    result += other.empty() ? text.substr(at, length) : other;
    at += length;
  }
  return result;
}

}  // namespace deputy
