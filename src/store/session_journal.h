// The journal as one run sees it: it stamps each fact with tree, run, step and call, and tells the run's own
// view of itself (its conversation) of every event in the order it was queued.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "store/journal.h"

namespace deputy {

// Shared by what may outlive the run and has something to record as long as it lasts.
class SessionJournal : public std::enable_shared_from_this<SessionJournal> {
 public:
  using Applied = std::function<void(const Event&)>;
  SessionJournal(Journal& journal, SessionId tree, RunId run, Applied applied)
      : journal_(journal), tree_(std::move(tree)), run_(std::move(run)), applied_(std::move(applied)) {}

  struct Place {
    int step = 0;
    int call = -1;
  };
  // Applied at once, durable when it returns.
  Task<Result<void>> record(Place place, std::vector<Fact> facts);
  void ride_along(Place place, Fact fact);
  // As one: all of them become durable, or none.
  void ride_together(Place place, std::vector<Fact> facts);
  // Makes durable what rode along so far; at once where all of it is.
  Task<Result<void>> sync();

  // The event as it is kept: for what another's unit takes along.
  Event stamped(Place place, Fact fact) const;

  const RunId& run() const { return run_; }
  const SessionId& tree() const { return tree_; }

 private:
  Journal& journal_;
  SessionId tree_;
  RunId run_;
  Applied applied_;
  std::size_t rode_ = 0;     // facts that rode along
  std::size_t durable_ = 0;  // how many of them are known to be durable
};

}  // namespace deputy
