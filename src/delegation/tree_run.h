// One run of a session in a tree, as those know it that oversee it and those that do its work: for tree_*.cc
// alone.
#pragma once

#include <exception>
#include <memory>
#include <optional>
#include <utility>

#include "agent/conversation.h"
#include "async/waiter.h"
#include "delegation/own_journal.h"
#include "delegation/tree.h"

namespace deputy {

// A run with all that it begins with, in one place for all that have a part in it. One that has been stopped
// and still runs is let go: it goes on beside, and what it says is not taken.
struct Tree::Run {
  Run(Loop& of, StopToken stop, OwnJournal way_to_journal, Session whose,
      std::unique_ptr<Conversation> before, std::optional<Slots::Place> where, Budget::Hold held)
      : loop(of),
        session(std::move(whose)),
        so_far(std::move(before)),
        place(std::move(where)),
        admitted(std::move(held)),
        above(std::move(stop)),
        own(above),
        journal(std::move(way_to_journal)) {}
  ~Run() { keep_waiting(); }
  Run(const Run&) = delete;
  void keep_waiting() {
    if (const auto set = std::exchange(timer, std::nullopt)) loop.timers().cancel(*set);
  }

  Loop& loop;
  Session session;
  std::unique_ptr<Conversation> so_far;  // until its loop has it
  std::optional<Slots::Place> place;     // until it is overseen; a stopped session gets none: it only ends
  Budget::Hold admitted;                 // until then
  StopToken above;
  StopSource own;
  OwnJournal journal;
  std::exception_ptr bug = {};
  Children::Ended report = std::unexpected(Error::cancelled());
  Waiter<bool> ended = {};  // false: it has to be ended by force
  std::optional<TimerId> timer = {};
};

}  // namespace deputy
