// The journal as rows. Each has a checksum over all that gives it its meaning, and is counted twice, among
// the records of its tree and of its session: neither a change nor a gap passes unnoticed. What is damaged is
// Error::corrupt and names its place.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "store/sqlite/database.h"
#include "transcript/event.h"

namespace deputy {

Result<Statement> prepare_put_event(const Database& database);
// `nth` counts the records of its session from 1.
Result<void> put_event(Statement& put, const Event& event, std::int64_t epoch, std::int64_t nth);

// In order, whole. `count` is how many there must be; nothing where that is not known.
Result<std::vector<Event>> select_events(const Database& database, const SessionId& session,
                                         std::optional<std::int64_t> count);
Result<std::vector<Event>> select_events_of_tree(const Database& database, const SessionId& tree,
                                                 std::optional<std::int64_t> at_least);

// The same for who only reads: where an index is damaged, or of a tree not known how many there must be, the
// table itself is searched.
Result<std::vector<Event>> recover_events(const Database& database, const SessionId& session,
                                          std::optional<std::int64_t> count);
Result<std::vector<Event>> recover_events_of_tree(const Database& database, const SessionId& tree,
                                                  std::optional<std::int64_t> at_least);
// From the table alone.
Result<std::vector<Event>> scan_events(const Database& database, const SessionId& session,
                                       std::optional<std::int64_t> count);

// Where each record is, whatever an index says.
struct JournalPlaces {
  struct Place {
    std::int64_t seq = 0;
    SessionId tree;
    SessionId session;
  };
  std::vector<Place> places = {};
  bool is_whole = true;  // otherwise there are some that cannot be read

  std::vector<std::int64_t> where(auto is_meant) const {
    std::vector<std::int64_t> found;
    for (const Place& place : places)
      if (is_meant(place)) found.push_back(place.seq);
    return found;
  }
};
JournalPlaces journal_places(const Database& database);
Result<std::vector<Event>> events_at(const Database& database, const SessionId& session,
                                     const std::vector<std::int64_t>& places,
                                     std::optional<std::int64_t> count);

}  // namespace deputy
