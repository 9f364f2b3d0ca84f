// Where the elements of an array stand in a JSON text. For changing one of them and leaving the rest as it
// is.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace deputy {

struct Span {
  std::size_t begin = 0;
  std::size_t end = 0;
};

struct ArraySpans {
  Span array;  // with its brackets
  std::vector<Span> elements;
};

// Of the array that is the member `key` of the object that `text` is. `text` must be valid JSON (parse_json
// has taken it); of anything else nothing is promised but that nothing outside it is read. Where a key stands
// twice the last one counts, as it does for parse_json.
std::optional<ArraySpans> array_member(std::string_view text, std::string_view key);

}  // namespace deputy
