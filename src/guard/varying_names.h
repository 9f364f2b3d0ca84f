// Names that are not told as they are: patterns of which the shell or find makes them, and endings that a
// program adds.
#pragma once

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "guard/shell.h"

namespace deputy {

inline constexpr std::string_view kPatternSigns = "*?[";

// Whether the shell may make this name of the pattern.
bool may_make(std::string_view pattern, std::string_view name);
// Whether the name may come to stand in the place of the word: of a pattern, or of what is filled in.
bool may_stand_for(const ShellWord& word, std::string_view name);

// Names of files, wherever they lie, as far as they are told.
class FileNames {
 public:
  using Names = std::set<std::string, std::less<>>;
  static constexpr std::size_t kMostPatterns = 16;  // with more of them it may hold any name

  void add(std::string_view name) { names_.emplace(name); }
  void add_pattern(std::string_view pattern);  // of names in whatever case

  bool empty() const { return names_.empty() && patterns_.empty(); }
  const Names& plain() const { return names_; }
  bool may_hold(std::string_view name) const;
  // The same, or a copy that is kept beside one: g.sh of sed -i.sh p g, g~ of cp -b a g.
  bool may_hold_or_keep(std::string_view name) const;
  bool may_hold_ending(std::string_view ending) const;

 private:
  Names names_;
  Names patterns_;
};

}  // namespace deputy
