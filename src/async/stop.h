// Cancellation as a value. A StopToken goes down with the call and says whether, why and by when to stop; a
// StopSource is held by whoever may stop it. A source made from a token stops with it. All on the loop's
// thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "async/timers.h"
#include "base/clock.h"

namespace deputy {

enum class StopReason {
  none,
  user,            // the person cancelled it
  terminated,      // the process was told to end (SIGTERM), by whomever
  parent,          // the parent agent cancelled it
  parent_stopped,  // its parent came to an end
  deadline,
  stalled,
  unanswered,    // its question will not be answered any more
  shutdown,      // the program is leaving; the work is to be resumed later
  store_failed,  // nothing can be recorded any more, so nothing more may be done
};

std::string_view name_of(StopReason reason);
// Whether what is stopped is to be left as it is, to be gone on with later, rather than brought to an end.
constexpr bool suspends(StopReason reason) {
  return reason == StopReason::shutdown || reason == StopReason::store_failed;
}

// Unregisters its callback when it dies.
class StopCallback;

class StopToken {
 public:
  StopToken() = default;  // never stops
  bool stopped() const;
  StopReason reason() const;
  std::optional<TimePoint> deadline() const;  // the nearest of its own and those above
  // Calls `callback` once when the stop comes; at once if it has come already.
  [[nodiscard]] StopCallback on_stop(std::move_only_function<void()> callback) const;

 private:
  friend class StopSource;
  friend class StopCallback;
  struct State;
  explicit StopToken(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

class StopCallback {
 public:
  StopCallback() = default;
  StopCallback(StopCallback&& other) noexcept;
  StopCallback& operator=(StopCallback&& other) noexcept;
  ~StopCallback();

 private:
  friend class StopToken;
  StopCallback(std::weak_ptr<StopToken::State> state, std::uint64_t id) : state_(std::move(state)), id_(id) {}
  void unregister();
  std::weak_ptr<StopToken::State> state_;
  std::uint64_t id_ = 0;
};

class StopSource {
 public:
  StopSource();
  explicit StopSource(const StopToken& parent);
  StopSource(StopSource&& other) noexcept;
  ~StopSource();

  StopToken token() const { return StopToken(state_); }
  // The first reason stays.
  void request(StopReason reason) const;
  // Requests StopReason::deadline at `when`; another call moves it, nothing removes it.
  void set_deadline(Timers& timers, std::optional<TimePoint> when);

 private:
  std::shared_ptr<StopToken::State> state_;
  StopCallback with_parent_;
  Timers* timers_ = nullptr;
  std::optional<TimerId> timer_;
};

}  // namespace deputy
