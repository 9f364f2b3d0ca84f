// What came from outside and has not come again yet: each comes in its moment, when the sessions that it
// concerned have come as far.
#pragma once

#include <cstddef>
#include <list>
#include <optional>

#include "app/replay_models.h"
#include "app/replay_outside.h"

namespace deputy {

class Happenings {
 public:
  // `playback` outlives it.
  Happenings(const FromOutside& outside, const Playback& playback)
      : coming_(outside.happenings.begin(), outside.happenings.end()), playback_(playback) {}

  // When it is to be asked for, at the latest.
  std::vector<TimePoint> moments() const;
  // One that is due, and does not come again. A program ends only once, and before the one after it.
  std::optional<Outside> next(TimePoint now, bool may_end_program);
  // That were looked at for that.
  std::size_t looked_at() const { return looked_at_; }

 private:
  TimePoint moment(const Outside& outside) const;
  bool is_due(const Outside& outside, TimePoint now) const;

  std::list<Outside> coming_;
  const Playback& playback_;
  std::size_t looked_at_ = 0;
};

bool ends_program(const Outside& outside);

}  // namespace deputy
