#include "app/frames.h"

#include <algorithm>

namespace deputy {

void Frames::draw_soon() {
  if (soon_) return;
  const TimePoint now = loop_.clock().now();
  soon_ = loop_.timers().call_at(last_ ? std::max(now, *last_ + kBetweenFrames) : now, [this] {
    soon_.reset();
    drawn();
    draw_();
  });
}

void Frames::cancel() {
  if (soon_) loop_.timers().cancel(*soon_);
  soon_.reset();
}

}  // namespace deputy
