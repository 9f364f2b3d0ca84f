// All that is kept: the journal of every tree, and views of it. A tree has one writer at a time: claim()
// makes the caller that writer, unless one that lives holds it, and fences off those before it. Reads see
// what is durable.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "store/journal.h"
#include "store/letter.h"
#include "transcript/event.h"
#include "transcript/session.h"

namespace deputy {

inline constexpr std::size_t kAllSessions = std::numeric_limits<std::int32_t>::max();

struct SessionFilter {
  std::optional<SessionId> parent;
  std::optional<SessionId> tree;
  bool roots_only = false;
  bool unfinished_only = false;
  std::size_t most = 1000;
};

class Store : public Journal {
 public:
  // From now on this store writes the tree. Error::busy, naming the holder, while another one holds it; that
  // of a process which has died holds nothing. A writer that claimed it earlier gets Error::busy from its
  // next record(). What it yields is all that the tree holds, in order.
  virtual Result<std::vector<Event>> claim(const SessionId& tree) = 0;
  // Lets another one claim it.
  virtual void release(const SessionId& tree) = 0;
  // Who holds it, in words; nothing where nobody does.
  virtual Result<std::optional<std::string>> holder(const SessionId& tree) const = 0;

  virtual Result<std::optional<Session>> session(const SessionId& id) const = 0;
  virtual Result<std::vector<Session>> sessions(const SessionFilter& filter) const = 0;  // newest first
  virtual Result<std::vector<Event>> events_of_session(const SessionId& id) const = 0;
  virtual Result<std::vector<Event>> events_of_tree(const SessionId& tree) const = 0;
  virtual Result<std::optional<Session>> child_of(const DelegationKey& key) const = 0;

  // The inbox, written by any process and read by the holder of the tree. post() gives the letter its id.
  virtual Result<std::int64_t> post(const Letter& letter) = 0;
  virtual Result<std::vector<Letter>> letters(const SessionId& tree) const = 0;  // oldest first
  virtual Result<void> discard(std::int64_t letter) = 0;

  // Told of every event in seq order, on the loop: a recorded one once it is durable, one that rides along
  // once all before it have been.
  using Listener = std::function<void(const Event&)>;
  virtual void subscribe(Listener listener) = 0;

  // Asked on the loop, whenever a unit is recorded, for what shall go with it: so it costs no commit of its
  // own, and is told with it at the latest. Where there is nothing else to commit it is not asked. It records
  // nothing.
  using Riders = std::function<std::vector<Event>()>;
  virtual void carry(Riders riders) = 0;

  struct Counts {
    std::uint64_t commits = 0;
    std::uint64_t events = 0;
  };
  virtual Counts counts() const = 0;
  // Why the transcript files are not complete, where they are not; the journal has everything.
  virtual std::optional<Error> export_failure() const = 0;
};

}  // namespace deputy
