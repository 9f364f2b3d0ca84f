// TOML from anybody's hands, as a tree of values that knows its lines. The library behind it is seen by
// toml.cc alone.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"

namespace deputy {

struct TomlMember;
struct TomlValue;
using TomlList = std::vector<TomlValue>;
using TomlTable = std::vector<TomlMember>;  // by name
struct TomlTime {};                         // a date, a time or both: nothing here wants one

struct TomlValue {
  int line = 1;  // where it begins
  std::variant<TomlTable, TomlList, std::string, std::int64_t, double, bool, TomlTime> value;

  // Null where it is something else.
  template <class T>
  const T* as() const {
    return std::get_if<T>(&value);
  }
};

struct TomlMember {
  std::string name;
  int line = 1;
  TomlValue value;
};

// `file` is for messages alone: "config.toml:3: this is not TOML: …". What it returns is a table.
Result<TomlValue> parse_toml(std::string_view text, std::string_view file);

}  // namespace deputy
