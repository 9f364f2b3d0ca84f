#include "app/replay_course.h"

#include "app/replay_places.h"
#include "async/sleep.h"

namespace deputy {
namespace {

constexpr Duration kSoon = std::chrono::milliseconds(100);

// What a tool leaves while it runs: a replayed one leaves it all at its end.
bool is_trace(const Fact& fact) {
  return std::holds_alternative<FileTouched>(fact) || std::holds_alternative<NoteTaken>(fact) ||
         std::holds_alternative<CommandEnded>(fact);
}

}  // namespace

bool is_step(const Fact& fact) {
  return !std::holds_alternative<StateChanged>(fact) && !std::holds_alternative<Retried>(fact) &&
         !std::holds_alternative<BudgetReserved>(fact) && !std::holds_alternative<DeadlineMoved>(fact) &&
         !std::holds_alternative<ProcessEnded>(fact) && !std::holds_alternative<ReplyHeard>(fact) &&
         !std::holds_alternative<TakenUp>(fact) && !is_trace(fact);
}

Course::Course(const std::vector<Event>& then) {
  const Places places(then);
  std::map<std::string, std::size_t> steps;
  std::vector<Step> all;
  for (const Event& event : then) {
    const std::string& place = places.of(event.run.session);
    all.push_back({place, is_step(event.fact) ? ++steps[place] : 0});
  }
  then_ = std::make_shared<const std::vector<Step>>(std::move(all));
}

void Course::take(const std::string& place, const Fact& fact) {
  if (!is_step(fact)) return;
  ++steps_[place];
  go_on();
}

void Course::begin() {
  steps_.clear();
  next_ = 0;
}

std::size_t Course::steps(const std::string& place) const {
  const auto found = steps_.find(place);
  return found == steps_.end() ? 0 : found->second;
}

void Course::go_on() {
  while (next_ < then_->size() && steps((*then_)[next_].place) >= (*then_)[next_].index) ++next_;
  std::erase_if(waiting_, [this](const auto& each) {
    if (has_reached(each.first)) each.second.resume(true);
    return each.second.resumed();
  });
}

Task<> Course::reach(Loop& loop, std::size_t event, TimePoint moment, StopToken stop) {
  if (loop.clock().now() < moment) co_await sleep_until(loop, moment, stop);
  if (has_reached(event)) co_return;
  StopSource patient(stop);
  patient.set_deadline(loop.timers(), moment + kSoon);
  const Waiter<bool> waiter;
  const auto on_stop = patient.token().on_stop([waiter] { waiter.resume(true); });
  if (waiter.resumed()) co_return;
  waiting_.emplace_back(event, waiter);
  co_await waiter.wait();
}

}  // namespace deputy
