// The one way to be called later. Whoever owns the loop fires what is due: the system loop when the clock
// gets there, the simulated loop by moving its clock.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "base/clock.h"

namespace deputy {

using TimerId = std::pair<TimePoint, std::uint64_t>;

class Timers {
 public:
  using Callback = std::move_only_function<void()>;

  virtual ~Timers() = default;
  TimerId call_at(TimePoint when, Callback callback);
  // A timer that has fired, or never was, is ignored.
  void cancel(TimerId id);

 protected:
  std::optional<TimePoint> earliest() const;
  // Those due at `now`, earliest first. Each stays pending, and can be cancelled, until it is fired.
  std::vector<TimerId> due(TimePoint now) const;
  // Calls it, unless it was cancelled meanwhile.
  void fire(TimerId id);
  void forget_all();
  virtual void earliest_changed() = 0;

 private:
  std::map<TimerId, Callback> pending_;
  std::uint64_t next_ = 0;
};

}  // namespace deputy
