// What the codecs of transcript/ share: for them alone.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/enum_names.h"
#include "base/json.h"
#include "base/result.h"

namespace deputy {

template <class E, std::size_t N>
Result<E> enum_at(const json::object& value, std::string_view key, const EnumNames<E, N>& names,
                  E otherwise) {
  const auto text = string_at(value, key);
  if (!text) return otherwise;
  if (const auto found = value_in(names, *text)) return *found;
  return fail(ErrorCode::corrupt, "unknown " + std::string(key) + " '" + *text + "'");
}

inline std::int64_t micros(WallTime time) { return time.time_since_epoch().count(); }
inline WallTime wall_at(const json::object& value, std::string_view key) {
  return WallTime{std::chrono::microseconds{integer_or(value, key, 0)}};
}

inline json::array strings(const std::vector<std::string>& texts) {
  json::array array;
  for (const auto& text : texts) array.emplace_back(text);
  return array;
}

inline std::vector<std::string> strings_at(const json::object& value, std::string_view key) {
  std::vector<std::string> texts;
  if (const auto* array = array_at(value, key)) {
    for (const auto& each : *array) {
      if (each.is_string()) texts.emplace_back(each.get_string());
    }
  }
  return texts;
}

inline Result<const json::object*> as_object(const json::value& value, std::string_view what) {
  if (const auto* object = value.if_object()) return object;
  return fail(ErrorCode::corrupt, std::string(what) + " is not an object");
}

}  // namespace deputy
