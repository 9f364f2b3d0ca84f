#include "async/sleep.h"

#include "async/waiter.h"

namespace deputy {

Task<Slept> sleep_until(Loop& loop, TimePoint when, StopToken stop) {
  const Waiter<Slept> waiter;
  const auto timer = loop.timers().call_at(when, [waiter] { waiter.resume(Slept::through); });
  const auto on_stop = stop.on_stop([waiter] { waiter.resume(Slept::stopped); });
  const Slept slept = co_await waiter.wait();
  loop.timers().cancel(timer);
  co_return slept;
}

Task<Slept> sleep_for(Loop& loop, Duration duration, StopToken stop) {
  const auto now = loop.clock().now();
  const auto when = duration > TimePoint::max() - now ? TimePoint::max() : now + duration;
  return sleep_until(loop, when, std::move(stop));
}

}  // namespace deputy
