// Where time comes from. Waits are measured on a monotonic clock, wall time is for people and file names
// only. SystemClock is the one place that asks the system; ManualClock moves when it is told to.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace deputy {

using Duration = std::chrono::nanoseconds;
using TimePoint = std::chrono::time_point<std::chrono::steady_clock, Duration>;
using WallTime = std::chrono::time_point<std::chrono::system_clock, std::chrono::microseconds>;

class Clock {
 public:
  virtual ~Clock() = default;
  virtual TimePoint now() const = 0;
  virtual WallTime wall() const = 0;
};

class SystemClock final : public Clock {
 public:
  TimePoint now() const override;
  WallTime wall() const override;
};

class ManualClock final : public Clock {
 public:
  explicit ManualClock(WallTime wall_at_start = WallTime{std::chrono::seconds{1'800'000'000}})
      : wall_at_start_(wall_at_start) {}
  TimePoint now() const override { return TimePoint{elapsed_}; }
  WallTime wall() const override {
    return wall_at_start_ + std::chrono::duration_cast<std::chrono::microseconds>(elapsed_ + wall_jump_);
  }
  void advance_to(TimePoint time) {
    if (time > now()) elapsed_ = time.time_since_epoch();
  }
  void advance(Duration by) { elapsed_ += by; }
  // What an operator or NTP does to the wall clock; the monotonic one does not notice.
  void jump_wall(Duration by) { wall_jump_ += by; }

 private:
  WallTime wall_at_start_;
  Duration elapsed_{};
  Duration wall_jump_{};
};

// "2027-01-15T08:00:00.123456Z", always UTC.
std::string to_iso8601(WallTime time);
std::optional<WallTime> from_iso8601(std::string_view text);

// "90s", "5m", "1h", "250ms", "2d"; "none" is not a duration.
std::optional<Duration> parse_duration(std::string_view text);
// The shortest of "340ms", "12s", "3m 05s", "1h 02m".
std::string to_text(Duration duration);

}  // namespace deputy
