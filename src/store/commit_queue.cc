#include "store/commit_queue.h"

#include <algorithm>
#include <new>
#include <utility>

namespace deputy {

namespace {

// A run that only reads for a long time must not hold its whole history in memory.
constexpr std::size_t kMostRiding = 512;

// So many are committed while the loop still works on others: the first go on while the last are written.
constexpr std::size_t kMostGathered = 8;

// Units that are told of whoever waits, and how long others may take the processor before.
constexpr std::size_t kMostUntold = 1024;
constexpr Duration kMostUntoldFor = std::chrono::milliseconds(100);

}  // namespace

bool is_spending(const Fact& fact) {
  const auto* retried = std::get_if<Retried>(&fact);
  if (!retried) return false;
  const Usage& usage = retried->usage;
  return usage.input > 0 || usage.output > 0 || usage.cost_micros.value_or(0) > 0;
}

CommitQueue::CommitQueue(Loop& loop, std::unique_ptr<StoreWriter> writer, Commit commit, Tidy tidy, Tell tell)
    : loop_(loop),
      commit_(std::move(commit)),
      tidy_(std::move(tidy)),
      tell_(std::move(tell)),
      writer_(std::move(writer)) {
  writer_->start([this] { drain(); });
}

CommitQueue::~CommitQueue() {
  *alive_ = false;
  writer_->stop();
}

Result<void> CommitQueue::check_accepted(const std::vector<Event>& events) const {
  if (failed_) return std::unexpected(*failed_);
  for (const auto& event : events) {
    if (!next_seq_.contains(event.tree)) {
      return fail(ErrorCode::internal,
                  "tree " + event.tree.value + " was not claimed before it was written to");
    }
  }
  return {};
}

void CommitQueue::stamp(std::vector<Event>& events) {
  const WallTime now = loop_.clock().wall();
  for (auto& event : events) {
    event.seq = next_seq_.at(event.tree)++;
    event.at = now;
  }
}

// Numbered last, where there is room for it everywhere: no number that was given lacks its event.
Result<void> CommitQueue::push(std::vector<Event> events, std::optional<Waiter<Result<void>>> waiter) {
  TRY(check_accepted(events));
  const auto shared = std::make_shared<std::vector<Event>>(std::move(events));
  if (queued_.size() == queued_.capacity()) queued_.reserve(2 * queued_.size() + 2);
  unpublished_.push_back({shared, waiter.has_value()});
  stamp(*shared);
  queued_.push_back({shared, std::move(waiter)});
  return {};
}

// They may be lost: who records does not fail for want of memory for them.
void CommitQueue::push_riders(const std::vector<Event>& unit) try {
  const bool is_commit =
      !unit.empty() || std::ranges::any_of(queued_, [](const Unit& each) { return !each.events->empty(); });
  if (!riders_ || !is_commit) return;
  if (auto riders = riders_(); !riders.empty()) (void)push(std::move(riders), std::nullopt);
} catch (const std::bad_alloc&) {
}

// The writer takes the riders and the unit at once, or neither.
Result<void> CommitQueue::push_with_riders(std::vector<Event> unit, Waiter<Result<void>> waiter) {
  const std::lock_guard lock(mutex_);
  push_riders(unit);
  return push(std::move(unit), std::move(waiter));
}

Task<Result<void>> CommitQueue::record(std::vector<Event> events) {
  const Waiter<Result<void>> waiter;
  CO_TRY(push_with_riders(std::move(events), waiter));
  riding_ = 0;
  wake_writer_soon();
  co_return co_await waiter.wait();
}

// Once the loop has done what it had to do at this moment: what all of that records is one commit. Who
// recorded first hardly waits longer, since the loop comes back to it only behind the others.
void CommitQueue::wake_writer_soon() try {
  if (++gathered_ >= kMostGathered) return wake_writer();
  if (gathered_ > 1) return;
  loop_.post([this, alive = alive_] {
    if (*alive && gathered_ > 0) wake_writer();
  });
} catch (const std::bad_alloc&) {
  wake_writer();
}

void CommitQueue::wake_writer() {
  {
    const std::lock_guard lock(mutex_);
    is_asked_ = true;
  }
  gathered_ = 0;
  writer_->wake();
}

void CommitQueue::ride_along(std::vector<Event> events) {
  const bool is_urgent =
      std::ranges::any_of(events, [](const Event& event) { return is_spending(event.fact); });
  {
    const std::lock_guard lock(mutex_);
    if (!push(std::move(events), std::nullopt)) return;  // the run learns of it from its next record()
  }
  publish_ready();
  if (is_urgent) wake_writer_soon();
  if (++riding_ >= kMostRiding) {
    riding_ = 0;
    wake_writer();
  }
}

void CommitQueue::drain() {
  std::vector<Events> done;
  const TimePoint latest = loop_.clock().now() + kMostUntoldFor;
  for (bool has_more = true; has_more;) {
    commit_while_asked(done, latest);
    do {
      has_more = tell_();
    } while (has_more && (done.size() >= kMostUntold || !is_asked()));
  }
}

// What tidies up has time until no commit is asked for: those who record wait for theirs. What is asked for
// may be committed already: then it is waited on, and what was committed is tidied up behind all the same.
void CommitQueue::commit_while_asked(std::vector<Events>& done, TimePoint latest) {
  for (bool is_untidy = false;;) {
    is_untidy |= commit_queued(done);
    if (broken_ || done.empty()) return;
    if (done.size() < kMostUntold && is_asked()) continue;
    if (std::exchange(is_untidy, false)) {
      if (auto tidied = tidy_(); !tidied) broken_ = std::move(tidied).error();
    }
    if (broken_ || done.size() >= kMostUntold || !writer_->is_woken_before(latest)) return;
  }
}

bool CommitQueue::is_asked() {
  const std::lock_guard lock(mutex_);
  return is_asked_;
}

bool CommitQueue::commit_queued(std::vector<Events>& done) {
  std::vector<Unit> units;
  {
    const std::lock_guard lock(mutex_);
    units = std::exchange(queued_, {});
    is_asked_ = false;
  }
  if (units.empty()) return false;
  EventRefs events;
  for (const auto& unit : units) {
    done.push_back(unit.events);
    for (const auto& event : *unit.events) events.emplace_back(event);
  }
  // Not left to the loop: a unit queued behind a failed one would be a hole in the order.
  auto result = broken_ ? std::unexpected(*broken_) : events.empty() ? Result<void>{} : commit_(events);
  if (!result) broken_ = result.error();
  loop_.post([this, alive = alive_, units = std::move(units), result = std::move(result)]() mutable {
    if (*alive) committed(std::move(units), result);
  });
  return !broken_;
}

void CommitQueue::committed(std::vector<Unit> units, const Result<void>& result) {
  if (!result && !failed_) failed_ = result.error();
  for (auto& unit : units) {
    if (!unit.waiter) continue;
    if (result) {
      for (auto& each : unpublished_) {
        if (each.durable_first) {
          each.durable_first = false;
          break;
        }
      }
      publish_ready();
    }
    unit.waiter->resume(result);
  }
  if (!result) return;
  counts_.commits += 1;
  for (const auto& unit : units) counts_.events += unit.events->size();
}

void CommitQueue::publish_ready() {
  while (!unpublished_.empty() && !unpublished_.front().durable_first) {
    const auto ready = std::move(unpublished_.front());
    unpublished_.pop_front();
    for (const auto& event : *ready.events) {
      for (const auto& listener : listeners_) listener(event);
    }
  }
}

Store::Counts CommitQueue::counts() const { return counts_; }

}  // namespace deputy
