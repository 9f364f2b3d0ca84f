// Distinct types for things that are spelled alike: Strong<struct SessionIdTag> is a string that cannot be
// passed where another kind of name is meant.
#pragma once

#include <compare>
#include <functional>
#include <string>
#include <utility>

namespace deputy {

template <class Tag>
struct Strong {
  std::string value;

  Strong() = default;
  explicit Strong(std::string text) : value(std::move(text)) {}
  bool empty() const { return value.empty(); }
  auto operator<=>(const Strong&) const = default;
  bool operator==(const Strong&) const = default;
};

}  // namespace deputy

template <class Tag>
struct std::hash<deputy::Strong<Tag>> {
  std::size_t operator()(const deputy::Strong<Tag>& name) const noexcept {
    return std::hash<std::string>{}(name.value);
  }
};
