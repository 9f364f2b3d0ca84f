#include "model/gemini_args.h"

#include <charconv>

namespace deputy::gemini {

namespace {

constexpr std::size_t kMaxDepth = 32;

json::value* member(json::value& parent, std::string_view name) {
  if (parent.is_null()) parent.emplace_object();
  return parent.is_object() && !name.empty() ? &parent.get_object()[name] : nullptr;
}

json::value* element(json::value& parent, std::string_view digits) {
  std::size_t index = 0;
  const char* begin = digits.data();
  const char* end = begin + digits.size();
  const auto read = std::from_chars(begin, end, index);
  if (read.ec != std::errc{} || read.ptr != end) return nullptr;
  if (parent.is_null()) parent.emplace_array();
  if (!parent.is_array() || index > parent.get_array().size()) return nullptr;
  json::array& array = parent.get_array();
  if (index == array.size()) array.emplace_back(nullptr);
  return &array[index];
}

// Takes one step off the front of the path: ".name", "[0]", "['name']".
json::value* step(json::value& parent, std::string_view& path) {
  if (path.starts_with('.')) {
    const std::size_t end = path.find_first_of(".[", 1);
    const std::string_view name = path.substr(1, end == std::string_view::npos ? end : end - 1);
    path.remove_prefix(1 + name.size());
    return member(parent, name);
  }
  const bool is_quoted = path.starts_with("['") || path.starts_with("[\"");
  const std::string_view close = !is_quoted ? "]" : path[1] == '\'' ? "']" : "\"]";
  const std::size_t begin = is_quoted ? 2 : 1;
  const std::size_t end = path.find(close, begin);
  if (!path.starts_with('[') || end == std::string_view::npos) return nullptr;
  const std::string_view inside = path.substr(begin, end - begin);
  path.remove_prefix(end + close.size());
  return is_quoted ? member(parent, inside) : element(parent, inside);
}

}  // namespace

json::value* place_at(json::value& root, std::string_view path) {
  if (!path.starts_with('$')) return nullptr;
  path.remove_prefix(1);
  json::value* place = &root;
  for (std::size_t depth = 0; place != nullptr && !path.empty(); ++depth) {
    if (depth == kMaxDepth) return nullptr;
    place = step(*place, path);
  }
  return place;
}

}  // namespace deputy::gemini
