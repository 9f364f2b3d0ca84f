// A regular expression that somebody else wrote, used on text that somebody else wrote: read as ECMAScript
// would read it, searched with limits on time and memory, so that no pair of them can stall or crash the
// process.
#pragma once

#include <memory>
#include <string_view>

#include "base/result.h"

namespace deputy {

class Pattern {
 public:
  static constexpr std::size_t kMaxBytes = 4096;

  static Result<Pattern> compile(std::string_view expression);

  enum class Match { yes, no, gave_up };
  // Anywhere in the text, unless the expression says otherwise. Gives up on text that is not UTF-8 or takes
  // too long.
  Match search(std::string_view text) const;

 private:
  explicit Pattern(std::shared_ptr<const void> code) : code_(std::move(code)) {}
  std::shared_ptr<const void> code_;
};

}  // namespace deputy
