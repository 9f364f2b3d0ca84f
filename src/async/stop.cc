#include "async/stop.h"

#include <algorithm>
#include <map>
#include <utility>

namespace deputy {

struct StopToken::State {
  StopReason reason = StopReason::none;
  std::optional<TimePoint> deadline;
  std::shared_ptr<State> parent;
  std::map<std::uint64_t, std::move_only_function<void()>> callbacks;
  std::uint64_t next = 1;

  void request(StopReason why) {
    if (reason != StopReason::none) return;
    reason = why;
    // A callback may register, unregister or stop others: each is taken out before it runs, last come first
    // served, so that children stop before their elders and in reverse order of start.
    while (!callbacks.empty()) {
      auto last = std::prev(callbacks.end());
      auto callback = std::move(last->second);
      callbacks.erase(last);
      callback();
    }
  }
};

std::string_view name_of(StopReason reason) {
  switch (reason) {
    case StopReason::none:
      return "none";
    case StopReason::user:
      return "user";
    case StopReason::terminated:
      return "terminated";
    case StopReason::parent:
      return "parent";
    case StopReason::parent_stopped:
      return "parent_stopped";
    case StopReason::deadline:
      return "deadline";
    case StopReason::stalled:
      return "stalled";
    case StopReason::unanswered:
      return "unanswered";
    case StopReason::shutdown:
      return "shutdown";
    case StopReason::store_failed:
      return "store_failed";
  }
  return "?";
}

bool StopToken::stopped() const { return reason() != StopReason::none; }

StopReason StopToken::reason() const { return state_ ? state_->reason : StopReason::none; }

std::optional<TimePoint> StopToken::deadline() const {
  std::optional<TimePoint> nearest;
  for (auto state = state_; state; state = state->parent) {
    if (state->deadline && (!nearest || *state->deadline < *nearest)) nearest = state->deadline;
  }
  return nearest;
}

StopCallback StopToken::on_stop(std::move_only_function<void()> callback) const {
  if (!state_) return {};
  if (stopped()) {
    callback();
    return {};
  }
  const auto id = state_->next++;
  state_->callbacks.emplace(id, std::move(callback));
  return StopCallback(state_, id);
}

StopCallback::StopCallback(StopCallback&& other) noexcept
    : state_(std::move(other.state_)), id_(std::exchange(other.id_, 0)) {}

StopCallback& StopCallback::operator=(StopCallback&& other) noexcept {
  if (this == &other) return *this;
  unregister();
  state_ = std::move(other.state_);
  id_ = std::exchange(other.id_, 0);
  return *this;
}

StopCallback::~StopCallback() { unregister(); }

void StopCallback::unregister() {
  if (id_ == 0) return;
  if (const auto state = state_.lock()) {
    // Moved out first: what the callback owns may die with it and unregister others.
    if (const auto found = state->callbacks.find(id_); found != state->callbacks.end()) {
      const auto dying = std::move(found->second);
      state->callbacks.erase(found);
    }
  }
  id_ = 0;
}

StopSource::StopSource() : state_(std::make_shared<StopToken::State>()) {}

StopSource::StopSource(const StopToken& parent) : StopSource() {
  if (!parent.state_) return;
  state_->parent = parent.state_;
  with_parent_ = parent.on_stop([state = std::weak_ptr(state_), above = std::weak_ptr(parent.state_)] {
    const auto elder = above.lock();
    if (const auto self = state.lock(); self && elder) self->request(elder->reason);
  });
}

StopSource::StopSource(StopSource&& other) noexcept
    : state_(std::move(other.state_)),
      with_parent_(std::move(other.with_parent_)),
      timers_(other.timers_),
      timer_(std::exchange(other.timer_, std::nullopt)) {}

StopSource::~StopSource() {
  if (timers_ && timer_) timers_->cancel(*timer_);
}

void StopSource::request(StopReason reason) const {
  const auto kept = state_;  // a callback may destroy this source
  kept->request(reason);
}

void StopSource::set_deadline(Timers& timers, std::optional<TimePoint> when) {
  if (timers_ && timer_) timers_->cancel(*timer_);
  timer_.reset();
  timers_ = &timers;
  state_->deadline = when;
  if (!when) return;
  timer_ = timers.call_at(*when, [state = std::weak_ptr(state_)] {
    if (const auto self = state.lock()) self->request(StopReason::deadline);
  });
}

}  // namespace deputy
