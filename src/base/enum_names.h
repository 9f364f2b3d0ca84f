// The spelling of an enumeration, in one table that is read both ways.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <utility>

namespace deputy {

template <class E, std::size_t N>
using EnumNames = std::array<std::pair<E, std::string_view>, N>;

template <class E, std::size_t N>
constexpr std::string_view name_in(const EnumNames<E, N>& names, E value) {
  for (const auto& [each, name] : names) {
    if (each == value) return name;
  }
  return "?";
}

template <class E, std::size_t N>
constexpr std::optional<E> value_in(const EnumNames<E, N>& names, std::string_view text) {
  for (const auto& [each, name] : names) {
    if (name == text) return each;
  }
  return std::nullopt;
}

}  // namespace deputy
