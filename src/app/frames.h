// When a screen is drawn: soon after something has changed, and not twice within kBetweenFrames, however much
// changes.
#pragma once

#include <functional>
#include <optional>

#include "async/loop.h"

namespace deputy {

inline constexpr Duration kBetweenFrames = std::chrono::milliseconds(16);

class Frames {
 public:
  Frames(Loop& loop, std::function<void()> draw) : loop_(loop), draw_(std::move(draw)) {}
  ~Frames() { cancel(); }
  Frames(const Frames&) = delete;

  void draw_soon();
  void cancel();  // what is to be drawn soon
  // Whoever draws without having been called from here says so.
  void drawn() { last_ = loop_.clock().now(); }

 private:
  Loop& loop_;
  std::function<void()> draw_;
  std::optional<TimerId> soon_;
  std::optional<TimePoint> last_;
};

}  // namespace deputy
