#include "app/frames.h"

#include <algorithm>
#include <utility>

namespace deputy {

void Frames::draw_soon() {
  if (soon_) return;
  const TimePoint now = loop_.clock().now();
  soon_ = loop_.timers().call_at(last_ ? std::max(now, *last_ + kBetweenFrames) : now, [this] {
    soon_.reset();
    last_ = loop_.clock().now();
    draw_();
  });
}

void Frames::try_again(std::uint64_t taken) {
  if (taken != std::exchange(taken_, taken)) start_over();
  if (again_) return;
  again_ = loop_.timers().call_at(loop_.clock().now() + wait_, [this] {
    again_.reset();
    draw_();
  });
  wait_ = std::min(wait_ * 2, kMostBetweenTries);
}

void Frames::drawn() {
  last_ = loop_.clock().now();
  start_over();
}

void Frames::start_over() {
  wait_ = kBetweenFrames;
  if (again_) loop_.timers().cancel(*std::exchange(again_, std::nullopt));
}

void Frames::cancel() {
  for (auto* timer : {&soon_, &again_}) {
    if (*timer) loop_.timers().cancel(*std::exchange(*timer, std::nullopt));
  }
}

}  // namespace deputy
