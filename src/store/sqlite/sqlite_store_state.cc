#include "store/sqlite/sqlite_store_state.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "store/session_view.h"
#include "store/sqlite/journal_rows.h"
#include "store/sqlite/select.h"
#include "store/sqlite/spare_room.h"
#include "store/sqlite/verified_rows.h"
#include "store/unique_facts.h"

namespace deputy {

namespace {

// The log is written back into the database when it has grown by so much, 4 MB; at exit SQLite does it by
// itself.
constexpr int kCheckpointPages = 1024;

// Some steps' worth of the log, 256 kB, is there before they are taken.
constexpr int kRoomPages = 64;

// Each waits as long as SQLite does for another process that writes: a minute in all.
constexpr int kMostTries = 12;

EventsBySession by_session(const std::vector<Event>& events) {
  EventsBySession sessions;
  auto last = sessions.end();  // of one session there often are several in a row
  for (const Event& event : events) {
    if (last == sessions.end() || last->first != event.run.session)
      last = sessions.try_emplace(event.run.session).first;
    last->second.emplace_back(event);
  }
  return sessions;
}

bool ends_a_tree(const EventRefs& events) {
  return std::ranges::any_of(events, [](const Event& event) {
    return event.run.session == event.tree && std::holds_alternative<RunEnded>(event.fact);
  });
}

}  // namespace

Result<void> SqliteStore::State::check_disk() const {
  if (!closing.has_disk_failed) return {};
  return fail(ErrorCode::io, fmt::format("nothing more is written to {}: its disk failed", writing.path()),
              "check the disk; what was recorded before is whole, go on with `deputy resume`");
}

Result<void> SqliteStore::State::check_writable() const {
  TRY(check_disk());
  if (loss && loss->only_to_read)
    return fail(ErrorCode::corrupt, fmt::format("nothing is written to {}: it is damaged", writing.path()),
                how_to_start_anew(*home));
  if (!mark.can_be_written())
    return fail(
        ErrorCode::denied, fmt::format("nothing can be written in {}", home->path()),
        "what was kept there can be read: `deputy sessions ls`; for more make the folder writable, or "
        "choose another with --home");
  return {};
}

// Reads all of it before it writes anything.
Result<std::vector<Event>> SqliteStore::State::take_up(const SessionId& tree) {
  std::vector<Event> events;
  EventsBySession sessions;
  std::map<SessionId, SessionRow> rows;
  TRY(in_one_state([&]() -> Result<void> {
    TRY(auto found, rows_of_tree(reading, tree));
    TRY(events, select_events_of_tree(reading, tree, events_counted(found)));
    sessions = by_session(events);
    TRY(rows, verified_rows(reading, tree, sessions, std::move(found)));
    return {};
  }));
  TRY(damage.kept_as_found(Result<void>{}, reading, tree.value));
  if (!damage.is_copied())
    return fail(ErrorCode::exhausted,
                fmt::format("{} is not gone on with: {} is damaged, and could not be copied", tree.value,
                            reading.path()),
                "copy deputy.db and deputy.db-wal to another place, make room, and run it again");
  TRY(const auto epoch, closing.after_write(next_epoch(tree)));
  TRY(locks.show_name(tree));
  const auto root = rows.find(tree);
  const bool has_ended = root != rows.end() && is_terminal(root->second.session.state);
  for (const auto& [id, of_session] : sessions) {
    SessionRow& row = rows.at(id);
    untold.erase(id);  // it is among its events
    if (files->is_done(row.session)) continue;
    const auto all = std::make_shared<const Claimed>(
        row.session, std::vector<Event>(of_session.begin(), of_session.end()));
    if (has_ended) {  // perhaps no commit follows
      files->rebuild(row.session, of_session);
    } else {
      left.insert_or_assign(id, all);
    }
    if (is_terminal(row.session.state)) continue;
    as_claimed.keep(all);
    live.insert_or_assign(id, std::move(row));
  }
  claimed[tree] = epoch;
  queue.open_tree(tree, events.size());
  return events;
}

Result<std::int64_t> SqliteStore::State::next_epoch(const SessionId& tree) {
  TRY(auto statement,
      reading.prepare("INSERT INTO trees (tree, epoch, holder) VALUES (?1, 1, ?2) ON CONFLICT (tree) DO "
                      "UPDATE SET epoch=epoch+1, holder=?2 RETURNING epoch"));
  statement.bind(tree.value).bind(fmt::format("process {}, since {}", ::getpid(), to_iso8601(clock.wall())));
  TRY(const bool has_row, statement.step());
  if (!has_row) return fail(ErrorCode::internal, "claiming " + tree.value + " gave no epoch");
  const auto epoch = statement.integer(0);
  TRY(statement.step());
  return epoch;
}

// Its transcripts are made whole by whoever claims it next, or seals them.
void SqliteStore::State::let_go(const SessionId& tree) {
  std::erase_if(left, [&](const auto& each) { return each.second->session.tree == tree; });
  holding.erase(tree);
  as_claimed.forget_tree(tree);
  locks.release(tree);
}

Result<void> SqliteStore::State::commit(const EventRefs& events) {
  auto written = write(events);
  // One that is stopped in the middle of its own transaction is waited for.
  for (int tries = 1; !written && written.error().code == ErrorCode::busy && tries < kMostTries; ++tries)
    written = write(events);
  // A disk that fails otherwise than for want of room is not written to again.
  if (!written && written.error().code == ErrorCode::exhausted) (void)record_stop(written.error());
  if (!written) {  // nobody tidies up behind it
    const std::lock_guard lock(claims);
    if (written.error().code == ErrorCode::io) forget_untold();
    write_transcripts();
  }
  return noticed(std::move(written), writing);
}

// In the room that was spared: each root that has not ended is told why it stands still.
Result<void> SqliteStore::State::record_stop(const Error& error) {
  const std::lock_guard lock(claims);
  give_back_spare_room(*home);
  TRY(auto transaction, Transaction::begin(writing));
  for (auto& [id, row] : live) {
    if (row.session.parent || !check_epoch(id)) continue;
    TRY(const auto last,
        select(writing, "SELECT coalesce(max(number), 0) FROM journal WHERE tree=?", id.value,
               [](const Statement& found) -> Result<std::int64_t> { return found.integer(0); }));
    Event event;
    event.seq = static_cast<std::uint64_t>(last.front()) + 1;
    event.at = clock.wall();
    event.tree = id;
    event.run = {id, row.session.run};
    event.fact = StateChanged{.state = SessionState::interrupted, .why = error.message};
    TRY(put_event(*insert_event, event, claimed[id], ++row.events));
    apply_to_session(row.session, event);
    TRY(put_session(*put_row, row));
  }
  return commit(transaction);
}

// The mark is moved only by what is durable.
Result<void> SqliteStore::State::commit(Transaction& transaction) {
  TRY(select_far->step());
  const auto far = static_cast<std::uint64_t>(select_far->integer(0));
  select_far->reset();
  TRY(transaction.commit());
  mark.raise(far);
  return {};
}

Result<void> SqliteStore::State::write(const EventRefs& events) {
  TRY(check_disk());
  const std::lock_guard lock(claims);
  // Once that is durable nobody looks for what was not begun.
  if (ends_a_tree(events)) write_transcripts();
  TRY(auto transaction, Transaction::begin(writing));
  std::map<SessionId, SessionRow> changed;
  const SessionId* checked = nullptr;
  for (const Event& event : events) {
    if (!checked || *checked != event.tree) TRY(check_epoch(event.tree));
    checked = &event.tree;
    auto row = changed.find(event.run.session);
    if (row == changed.end()) {
      TRY(auto before, row_before(event));
      row = changed.emplace(event.run.session, std::move(before)).first;
    }
    auto put = put_event(*insert_event, event, claimed[event.tree], ++row->second.events);
    if (!put && put.error().code == ErrorCode::internal) return std::unexpected(recorded_twice(event));
    TRY(std::move(put));
    apply_to_session(row->second.session, event);
    if (changes_what_is_settled(event)) row->second.settled.clear();
  }
  for (auto& [id, row] : changed) TRY(put_or_change(row));
  TRY(commit(transaction));
  for (auto& [id, row] : changed) {
    if (is_terminal(row.session.state)) {
      live.erase(id);
    } else {
      live.insert_or_assign(id, std::move(row));
    }
  }
  for (const Event& event : events) untold[event.run.session].emplace_back(event);
  if (ends_a_tree(events)) write_transcripts();
  return {};
}

void SqliteStore::State::write_transcripts() {
  while (has_untold()) write_a_transcript();
}

// One that begins again is made from all before; what waits to be told of that is among it.
void SqliteStore::State::write_a_transcript() {
  if (!left.empty()) {
    const auto first = left.extract(left.begin());
    const auto& [session, events] = *first.mapped();
    return files->rebuild(session, EventRefs(events.begin(), events.end()));
  }
  const auto told = untold.extract(untold.begin());
  EventRefs& events = told.mapped();
  const auto last = std::find_if(events.rbegin(), events.rend(), begins_again);
  if (last != events.rend() && reopen_transcript(*last)) events.erase(events.begin(), last.base() - 1);
  files->write(events);
}

// A step does not wait for its transcript: the journal has all of it. Who hears of a tree's end may look
// there. A disk that failed when it was tidied up behind the commit is left alone: whoever takes the tree up
// makes the transcripts from the journal.
bool SqliteStore::State::tell() {
  const std::lock_guard lock(claims);
  if (closing.has_disk_failed) forget_untold();
  if (has_untold()) write_a_transcript();
  return has_untold();
}

Result<void> SqliteStore::State::tend() {
  if (!std::exchange(has_spare_room, true)) keep_spare_room(*home);  // nobody waits here for its syncs
  auto tended = tend_log();
  if (!tended && tended.error().code == ErrorCode::exhausted) (void)record_stop(tended.error());
  return tended;
}

// What was recorded is durable without it. Where somebody still reads the log it grows on: then it is tried
// again only after as much more. One that was written back is written over, and has its length.
Result<void> SqliteStore::State::tend_log() {
  TRY(check_disk());
  const std::lock_guard lock(claims);
  const int pages = writing.log_pages();
  if (pages < kCheckpointPages && damage.is_none()) TRY(writing.keep_room_in_log(kRoomPages));
  if (pages < written_back_at) written_back_at = 0;  // another process wrote it back
  if (pages - written_back_at < kCheckpointPages) return {};
  TRY(const bool was_all, damage.is_copied() ? writing.write_back() : Result<bool>(false));
  written_back_at = was_all ? 0 : pages;
  return {};
}

// A row that is gone, or that its index hides, is made again.
Result<void> SqliteStore::State::put_or_change(SessionRow& row) {
  if (row.put_as == row.session.state) {
    TRY(const bool is_there, change_session(*change_row, row));
    if (is_there) return {};
    writing.note_damage(row.session.id.value);
  }
  auto put = put_session(*put_row, row);
  if (!put && put.error().code == ErrorCode::internal)
    return std::unexpected(damaged_database(writing.path(), "a session is not found by its id"));
  return put;
}

// A session that has ended is not among the live ones; it may begin another run.
Result<SessionRow> SqliteStore::State::row_before(const Event& event) {
  if (const auto known = live.find(event.run.session); known != live.end()) return known->second;
  if (std::holds_alternative<SessionCreated>(event.fact)) return SessionRow{};
  TRY(auto kept, select_session(writing, "id", event.run.session.value));
  if (!kept) return SessionRow{};
  if (kept->events != 0) return *std::move(kept);
  TRY(const auto before, select_events(writing, event.run.session, std::nullopt));
  kept->events = static_cast<std::int64_t>(before.size());
  return *std::move(kept);
}

// They are exports: one that cannot be made does not undo what was recorded. Damage is kept as it was found,
// as wherever it is met.
bool SqliteStore::State::reopen_transcript(const Event& event) {
  auto before = select_events(writing, event.run.session, std::nullopt);
  if (!before) {
    (void)damage.kept_as_found(std::move(before), writing, event.run.session.value);
    return false;
  }
  std::erase_if(*before, [&event](const Event& each) { return each.seq >= event.seq; });
  files->reopen(EventRefs(before->begin(), before->end()));
  return true;
}

Result<void> SqliteStore::State::check_epoch(const SessionId& tree) {
  select_epoch->bind(tree.value);
  TRY(const bool has_row, select_epoch->step());
  const auto epoch = has_row ? select_epoch->integer(0) : 0;
  select_epoch->reset();
  const auto mine = claimed.find(tree);
  if (mine == claimed.end() || mine->second != epoch) return std::unexpected(fenced_off(tree));
  return {};
}

}  // namespace deputy
