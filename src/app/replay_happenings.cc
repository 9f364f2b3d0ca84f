#include "app/replay_happenings.h"

#include <algorithm>
#include <utility>

namespace deputy {
namespace {

// It waits for what comes soon, or not at all.
constexpr Duration kPatience = std::chrono::seconds(10);

}  // namespace

bool ends_program(const Outside& outside) {
  return outside.kind == Outside::Kind::leave || outside.kind == Outside::Kind::die;
}

std::vector<TimePoint> Happenings::moments() const {
  std::vector<TimePoint> all;
  for (const Outside& each : coming_)
    for (const Duration patience : {Duration{}, kPatience}) all.push_back(moment(each) + patience);
  return all;
}

// They are in the order of their moments.
std::optional<Outside> Happenings::next(TimePoint now, bool may_end_program) {
  bool is_another_end = false;
  looked_at_ = 0;
  for (auto each = coming_.begin(); each != coming_.end() && moment(*each) <= now; ++each) {
    ++looked_at_;
    const bool may_come = !ends_program(*each) || (!std::exchange(is_another_end, true) && may_end_program);
    if (!may_come || !is_due(*each, now)) continue;
    std::optional<Outside> found(std::move(*each));
    coming_.erase(each);
    return found;
  }
  return std::nullopt;
}

// A program died with the last that is on record of it.
TimePoint Happenings::moment(const Outside& outside) const {
  const bool is_behind = outside.kind == Outside::Kind::die;
  return playback_.moment(outside.event - (is_behind ? 1 : 0));
}

bool Happenings::is_due(const Outside& outside, TimePoint now) const {
  if (now >= moment(outside) + kPatience) return true;
  return playback_.course.has_reached(outside.event) &&
         std::ranges::all_of(outside.after, [this](const auto& each) {
           return playback_.course.steps(each.first) >= each.second.events &&
                  playback_.asked(each.first) >= each.second.requests;
         });
}

}  // namespace deputy
