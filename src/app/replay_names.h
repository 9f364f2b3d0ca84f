// Names that may stand anywhere in a text, ids above all, and a text with others in their place. Pure.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace deputy {

class Names {
 public:
  // Empty ones stand nowhere.
  explicit Names(std::vector<std::string> names);

  // What stands for a name; an empty text leaves it as it is.
  using Substitute = std::function<std::string_view(const std::string& name)>;
  // In one pass: at each place the longest name that stands there, and what is put in is not looked at again,
  // so a text grows by no more than what it names.
  std::string replaced(std::string_view text, const Substitute& by) const;

 private:
  struct Name {
    std::string text;
    std::size_t within = 0;  // the longest other one that this begins with, by its place from 1; 0: none
  };
  const std::string* at_start_of(std::string_view text) const;

  std::vector<Name> names_;      // in their order
  std::vector<bool> can_begin_;  // by the first byte
  std::size_t longest_ = 0;
};

}  // namespace deputy
