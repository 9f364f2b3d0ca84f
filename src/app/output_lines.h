// What commands print, piece by piece as it comes, made into lines that can be shown: whole ones, and none
// that holds a secret or a part of one. A line is held back as long as a secret in it may go on in what
// follows, and no longer than kMostHeld bytes: past that a secret that has not ended is hidden as far as it
// is known.
#pragma once

#include <string>
#include <string_view>

#include "base/redaction.h"

namespace deputy {

class OutputLines {
 public:
  static constexpr std::size_t kMostHeld = std::size_t{64} * 1024;

  // What can be shown now that `piece` has come; often "".
  std::string take(std::string_view piece, const Redactor& redactor);

 private:
  std::string held_;
};

}  // namespace deputy
