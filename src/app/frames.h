// When a screen is drawn: soon after something has changed, and not twice within kBetweenFrames, however much
// changes. A terminal that takes nothing is tried again, ever less often, down to once in kMostBetweenTries.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "async/loop.h"

namespace deputy {

inline constexpr Duration kBetweenFrames = std::chrono::milliseconds(16);
inline constexpr Duration kMostBetweenTries = std::chrono::seconds(1);

class Frames {
 public:
  Frames(Loop& loop, std::function<void()> draw) : loop_(loop), draw_(std::move(draw)) {}
  ~Frames() { cancel(); }
  Frames(const Frames&) = delete;

  void draw_soon();
  // The terminal did not take the last frame. While what it has taken in all grows, it is tried soon.
  void try_again(std::uint64_t taken);
  void cancel();  // what is to be drawn soon, or again
  // The terminal took it; whoever draws without having been called from here says so, too.
  void drawn();

 private:
  void start_over();

  Loop& loop_;
  std::function<void()> draw_;
  std::optional<TimerId> soon_;
  std::optional<TimerId> again_;
  std::uint64_t taken_ = 0;
  Duration wait_ = kBetweenFrames;
  std::optional<TimePoint> last_;
};

}  // namespace deputy
