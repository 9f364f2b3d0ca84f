// What a replay cannot repeat, because it is not on record: where a tree goes another way for that, it is no
// defect. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "app/bundle.h"

namespace deputy {

struct BeyondReplay {
  std::string why;
  std::size_t from = 0;     // the first event that may be another one for that, by its index
  bool is_of_time = false;  // then only what may come of time is
};
std::vector<BeyondReplay> beyond_replay(const Bundle& bundle);

// A session that went on for long after its time was up. That is no excuse: a deadline that is not kept looks
// like a clock that was set forward, so it is for the person to judge.
std::optional<BeyondReplay> went_on_late(const Bundle& bundle);

}  // namespace deputy
