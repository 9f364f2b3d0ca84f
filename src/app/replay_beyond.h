// What a replay cannot repeat, because it is not on record: where a tree goes another way for that, it is no
// defect. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "app/bundle.h"

namespace deputy {

struct BeyondReplay {
  std::string why;
  std::size_t from = 0;  // the first event that may be another one for that, by its index
};
std::vector<BeyondReplay> beyond_replay(const Bundle& bundle);

}  // namespace deputy
