// What every store does alike: numbers and stamps events on the loop, queues them, lets the writer commit all
// that is queued as one transaction, and tells listeners in order. After a commit fails, or what tidies up
// behind one, nothing more is accepted: what cannot be recorded must not be done.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "async/loop.h"
#include "async/waiter.h"
#include "base/result.h"
#include "store/store.h"
#include "store/writer.h"

namespace deputy {

// An attempt that failed and was paid for: it rides along, and no unit may come before the request ends. So
// it asks for a commit by itself, or a crash would give its money back to the budget.
bool is_spending(const Fact& fact);

class CommitQueue {
 public:
  // Called by the writer, never twice at once, with all that was queued.
  using Commit = std::function<Result<void>(const EventRefs&)>;
  // What is done once commits are acknowledged. Nobody waits for it but a commit that is asked for meanwhile.
  using Tidy = std::function<Result<void>()>;
  // What has time, a piece of it for some commits at once, and whether there is more: until there is none,
  // their events are there. A commit that is asked for comes between two pieces.
  using Tell = std::function<bool()>;

  CommitQueue(
      Loop& loop, std::unique_ptr<StoreWriter> writer, Commit commit,
      Tidy tidy = [] { return Result<void>{}; }, Tell tell = [] { return false; });
  ~CommitQueue();

  // The next event of `tree` will be number `last_seq` + 1.
  void open_tree(const SessionId& tree, std::uint64_t last_seq) { next_seq_[tree] = last_seq + 1; }
  Task<Result<void>> record(std::vector<Event> events);
  void ride_along(std::vector<Event> events);
  void carry(Store::Riders riders) { riders_ = std::move(riders); }
  void subscribe(Store::Listener listener) { listeners_.push_back(std::move(listener)); }
  Store::Counts counts() const;

 private:
  using Events = std::shared_ptr<const std::vector<Event>>;
  struct Unit {
    Events events;
    std::optional<Waiter<Result<void>>> waiter;  // absent: rides along
  };
  struct Unpublished {
    Events events;
    bool durable_first = false;
  };
  Result<void> check_accepted(const std::vector<Event>& events) const;
  void stamp(std::vector<Event>& events);
  // With `mutex_` held.
  Result<void> push(std::vector<Event> events, std::optional<Waiter<Result<void>>> waiter);
  void push_riders(const std::vector<Event>& unit);
  Result<void> push_with_riders(std::vector<Event> unit, Waiter<Result<void>> waiter);
  void wake_writer_soon();
  void wake_writer();
  void drain();
  void commit_while_asked(std::vector<Events>& done, TimePoint latest);
  bool is_asked();
  // All that is queued, which is then in `done`. False: there was nothing, or it failed.
  bool commit_queued(std::vector<Events>& done);
  void committed(std::vector<Unit> units, const Result<void>& result);
  void publish_ready();

  Loop& loop_;
  Commit commit_;
  Tidy tidy_;
  Tell tell_;
  std::map<SessionId, std::uint64_t> next_seq_;
  std::vector<Store::Listener> listeners_;
  Store::Riders riders_;
  std::deque<Unpublished> unpublished_;
  std::size_t riding_ = 0;
  std::size_t gathered_ = 0;  // units that were recorded since the writer was last woken
  std::optional<Error> failed_;
  Store::Counts counts_;

  std::optional<Error> broken_;  // the writer's own: after a failure it makes no other commit
  std::mutex mutex_;             // guards what follows, which the writer empties
  std::vector<Unit> queued_;
  bool is_asked_ = false;  // for a commit; what rides along asks for none, unless it is_spending()

  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  std::unique_ptr<StoreWriter> writer_;  // last: it stops before what it uses dies
};

}  // namespace deputy
