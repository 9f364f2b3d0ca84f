#include "store/sqlite/sqlite_store.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <set>

#include "base/disk_mark.h"
#include "base/text.h"
#include "store/commit_queue.h"
#include "store/session_view.h"
#include "store/sqlite/damage_met.h"
#include "store/sqlite/database.h"
#include "store/sqlite/inbox_rows.h"
#include "store/sqlite/journal_rows.h"
#include "store/sqlite/migrate.h"
#include "store/sqlite/quarantine.h"
#include "store/sqlite/reserve.h"
#include "store/sqlite/select.h"
#include "store/sqlite/session_rows.h"
#include "store/sqlite/tree_locks.h"
#include "store/transcript_files.h"
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

using EventsBySession = std::map<SessionId, EventRefs>;

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

std::unexpected<Error> damaged(const SessionId& session, std::string_view why) {
  return fail(ErrorCode::corrupt, fmt::format("{} is damaged: {}", session.value, why),
              "the other sessions can still be read: `deputy sessions ls`; nothing was changed");
}

// Whether an index leads to that place. Then there is no need to read what is there once more.
Result<bool> leads_to(std::int64_t place, Statement& by_index, std::string_view value) {
  TRY(const bool has_row, by_index.bind(value).step());
  const bool is_led_to = has_row && by_index.integer(0) == place;
  by_index.reset();
  return is_led_to;
}

// That the view fits the truth: each session is there, has all its records, and is found by its id, its
// delegation and its tree. `rows` are those that are found by the tree, of the same state.
Result<std::map<SessionId, SessionRow>> verified_rows(const Database& database, const SessionId& tree,
                                                      const EventsBySession& sessions,
                                                      std::map<SessionId, SessionRow> rows) {
  TRY(auto by_id, database.prepare("SELECT rowid FROM sessions WHERE id=?"));
  TRY(auto by_delegation, database.prepare("SELECT rowid FROM sessions WHERE delegation=?"));
  for (const auto& [id, events] : sessions) {
    auto found = rows.find(id);
    TRY(const bool has_id, leads_to(found == rows.end() ? 0 : found->second.place, by_id, id.value));
    if (!has_id) {
      TRY(auto row, select_session(database, "id", id.value));
      if (!row) return damaged(id, "its row is missing");
      found = rows.insert_or_assign(id, *std::move(row)).first;
    }
    SessionRow& row = found->second;
    const auto count = static_cast<std::int64_t>(events.size());
    if (row.events != 0 && row.events != count) return damaged(id, "its last records are missing");
    row.events = count;
    if (!row.session.delegation) continue;
    const std::string key = delegation_text(*row.session.delegation);
    TRY(const bool has_key, leads_to(row.place, by_delegation, key));
    if (has_key) continue;
    TRY(const auto other, select_session(database, "delegation", key));
    if (!other || other->session.id != id) return damaged(id, "it is not found by its delegation");
  }
  TRY(const auto found, select(database, "SELECT count(*) FROM sessions WHERE tree=?", tree.value,
                               [](const Statement& row) -> Result<std::int64_t> { return row.integer(0); }));
  if (found.front() != std::ssize(sessions))
    return damaged(tree, "not all of its rows are found by their tree");
  return rows;
}

}  // namespace

// The writer's half: used by the store's writer alone once the queue runs, except for claim(), which happens
// before.
struct SqliteStore::State {
  struct Parts {
    std::unique_ptr<Folder> home;
    Database writing;
    Database reading;
    TreeLocks locks;
    DiskMark mark;
    std::unique_ptr<TranscriptFiles> files;
    std::optional<Loss> loss = {};
  };
  State(Loop& loop, Parts parts, std::unique_ptr<StoreWriter> writer)
      : clock(loop.clock()),
        home(std::move(parts.home)),
        writing(std::move(parts.writing)),
        reading(std::move(parts.reading)),
        locks(std::move(parts.locks)),
        mark(std::move(parts.mark)),
        files(std::move(parts.files)),
        loss(std::move(parts.loss)),
        queue(
            loop, std::move(writer),
            [this](const EventRefs& events) { return closing.after_write(commit(events)); },
            [this](const EventRefs& events) { return closing.after_write(tend(events)); }) {}

  // What others commit between two reads is not seen.
  template <class Read>
  std::invoke_result_t<Read> in_one_state(Read read) const {
    TRY(const auto one_state, Transaction::begin_reading(reading));
    return read();
  }
  bool can_write() const { return !loss || !loss->only_to_read; }
  Result<void> check_disk() const;      // by any thread
  Result<void> check_writable() const;  // by the loop
  // For who does not hold `claims`, and waits for it only where there is damage to be kept as it was found.
  template <class T>
  Result<T> noticed(Result<T> result, const Database& met_by, std::string_view name = "database") {
    if (!met_by.has_met_damage() && (result || result.error().code != ErrorCode::corrupt)) return result;
    const std::lock_guard lock(claims);
    return damage.kept_as_found(std::move(result), met_by, name);
  }
  Result<void> commit(const EventRefs& events);
  Result<void> commit(Transaction& transaction);
  Result<void> write(const EventRefs& events);
  Result<void> tend(const EventRefs& events);
  Result<void> tend_log();
  Result<void> record_stop(const Error& error);
  Result<std::vector<Event>> take_up(const SessionId& tree);
  Result<std::int64_t> next_epoch(const SessionId& tree);
  Result<void> check_epoch(const SessionId& tree);
  Result<SessionRow> row_before(const Event& event);
  void write_transcripts(const EventRefs& events);
  void reopen_transcripts(const EventRefs& events);
  const Clock& clock;
  std::unique_ptr<Folder> home;
  Database writing;
  Database reading;
  DamageMet damage{*home};  // guarded by `claims`
  // Goes after all who use them, and so needs no lock for what it says to them.
  struct Closing {
    const Database& writing;
    const Database& reading;
    const DamageMet& damage;
    bool has_claimed = false;
    std::atomic<bool> has_disk_failed = false;  // the loop writes too: epochs and letters
    // What a failed sync has lost can be read for a while, and would be written back as if it were there.
    template <class T>
    Result<T> after_write(Result<T> written) {
      if (!written && written.error().code == ErrorCode::io) has_disk_failed = true;
      return written;
    }
    ~Closing() {
      const bool writes_back = has_claimed && damage.is_none() && !has_disk_failed;
      writing.write_back_at_close(writes_back);
      reading.write_back_at_close(writes_back);
    }
  } closing{writing, reading, damage};
  TreeLocks locks;
  DiskMark mark;                // see kHowFar
  std::set<SessionId> holding;  // on the loop
  std::unique_ptr<TranscriptFiles> files;
  std::optional<Loss> loss;
  std::mutex claims;  // guards what follows, and files, against the loop while the writer works
  std::map<SessionId, std::int64_t> claimed;
  std::map<SessionId, SessionRow>
      live;                 // rows of sessions that have not ended, so that a step need not read its row
  int written_back_at = 0;  // pages of the log, where not all could be
  std::optional<Statement> insert_event;
  std::optional<Statement> select_epoch;
  std::optional<Statement> select_far;
  std::optional<Statement> upsert_session;
  CommitQueue queue;
};

SqliteStore::SqliteStore(std::unique_ptr<State> state) : state_(std::move(state)) {}
SqliteStore::~SqliteStore() = default;

Result<std::unique_ptr<SqliteStore>> SqliteStore::open(Loop& loop, const Folder& home,
                                                       std::unique_ptr<StoreWriter> writer) {
  const std::string path = join_path(home.path(), "deputy.db");
  TRY(check_unopened(home));
  TRY(auto own_home, home.open_folder("."));
  TRY(auto loss, look_for_loss(home));
  // Made here so that it is for the owner alone; SQLite gives its companions the same mode.
  if (!home.status("deputy.db")) TRY(home.append_to("deputy.db", ""));
  const auto mode = loss && loss->only_to_read ? Database::Mode::read_only : Database::Mode::read_write;
  TRY(auto writing, Database::open(path, mode));
  if (mode == Database::Mode::read_write) TRY(migrate(writing));
  TRY(auto mark, DiskMark::open(home, kMarkName));
  TRY(home.make_folder("subagent"));
  TRY(auto transcripts, home.open_folder("subagent"));
  TRY(auto reading, Database::open(path, mode));
  TRY(auto locks, TreeLocks::open(home));
  keep_reserve(home);
  auto state = std::make_unique<State>(
      loop,
      State::Parts{std::move(own_home), std::move(writing), std::move(reading), std::move(locks),
                   std::move(mark), std::make_unique<TranscriptFiles>(std::move(transcripts)),
                   std::move(loss)},
      std::move(writer));
  TRY(state->insert_event, prepare_put_event(state->writing));
  TRY(state->select_epoch, state->writing.prepare("SELECT epoch FROM trees WHERE tree=?"));
  TRY(state->select_far, state->writing.prepare(kHowFar));
  TRY(state->upsert_session, prepare_put_session(state->writing));
  return std::unique_ptr<SqliteStore>(new SqliteStore(std::move(state)));
}

Result<std::vector<Event>> SqliteStore::claim(const SessionId& tree) {
  State& state = *state_;
  TRY(state.check_writable());
  const std::lock_guard lock(state.claims);
  TRY(const bool is_ours, state.locks.take(tree));
  if (!is_ours) {
    TRY(const auto holder, other_holder(state.reading, state.locks, tree));
    return std::unexpected(held_elsewhere(tree, holder));
  }
  auto taken = state.take_up(tree);
  if (taken) {
    state.holding.insert(tree);
    state.closing.has_claimed = true;
    return taken;
  }
  release(tree);
  return state.damage.kept_as_found(std::move(taken), state.reading, tree.value);
}

void SqliteStore::release(const SessionId& tree) {
  state_->holding.erase(tree);
  state_->locks.release(tree);
}

Result<std::optional<std::string>> SqliteStore::holder(const SessionId& tree) const {
  State& state = *state_;
  if (state.holding.contains(tree)) return state.noticed(last_holder(state.reading, tree), state.reading);
  if (!state.locks.is_held_by_another(tree)) return std::nullopt;
  return state.noticed(other_holder(state.reading, state.locks, tree), state.reading);
}

Result<void> SqliteStore::State::check_disk() const {
  if (!closing.has_disk_failed) return {};
  return fail(ErrorCode::io, fmt::format("nothing more is written to {}: its disk failed", writing.path()),
              "check the disk; what was recorded before is whole, go on with `deputy resume`");
}

Result<void> SqliteStore::State::check_writable() const {
  TRY(check_disk());
  if (can_write()) return {};
  return fail(ErrorCode::corrupt, fmt::format("nothing is written to {}: it is damaged", writing.path()),
              "move deputy.db, deputy.db-wal and deputy.mark away to start anew");
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
  for (const auto& [id, of_session] : sessions) {
    SessionRow& row = rows.at(id);
    files->rebuild(row.session, of_session);
    if (!is_terminal(row.session.state)) live.insert_or_assign(id, std::move(row));
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

Result<void> SqliteStore::State::commit(const EventRefs& events) {
  auto written = write(events);
  // One that is stopped in the middle of its own transaction is waited for.
  for (int tries = 1; !written && written.error().code == ErrorCode::busy && tries < kMostTries; ++tries)
    written = write(events);
  // A disk that fails otherwise than for want of room is not written to again.
  if (!written && written.error().code == ErrorCode::exhausted) (void)record_stop(written.error());
  return noticed(std::move(written), writing);
}

// In what the reserve leaves: each root that has not ended is told why it stands still.
Result<void> SqliteStore::State::record_stop(const Error& error) {
  const std::lock_guard lock(claims);
  give_back_reserve(*home);
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
    TRY(put_session(*upsert_session, row));
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
  }
  for (const auto& [id, row] : changed) TRY(put_session(*upsert_session, row));
  TRY(commit(transaction));
  for (auto& [id, row] : changed) {
    if (is_terminal(row.session.state)) {
      live.erase(id);
    } else {
      live.insert_or_assign(id, std::move(row));
    }
  }
  if (ends_a_tree(events)) write_transcripts(events);
  return {};
}

void SqliteStore::State::write_transcripts(const EventRefs& events) {
  reopen_transcripts(events);
  files->write(events);
}

// A step does not wait for its transcript: the journal has all of it. Who hears of a tree's end may look
// there.
Result<void> SqliteStore::State::tend(const EventRefs& events) {
  if (!ends_a_tree(events)) {
    const std::lock_guard lock(claims);
    write_transcripts(events);
  }
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

// They are exports: one that cannot be made does not undo what was recorded.
void SqliteStore::State::reopen_transcripts(const EventRefs& events) {
  for (const Event& event : events) {
    if (!begins_again(event)) continue;
    auto before = select_events(writing, event.run.session, std::nullopt);
    if (!before) continue;
    std::erase_if(*before, [&event](const Event& each) { return each.seq >= event.seq; });
    files->reopen(EventRefs(before->begin(), before->end()));
  }
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

Result<std::optional<Session>> SqliteStore::session(const SessionId& id) const {
  TRY(auto row, state_->noticed(state_->in_one_state([&] { return recover_session(state_->reading, id); }),
                                state_->reading));
  return row ? std::optional(std::move(row->session)) : std::nullopt;
}

Result<std::optional<Session>> SqliteStore::child_of(const DelegationKey& key) const {
  TRY(auto row,
      state_->noticed(select_session(state_->reading, "delegation", delegation_text(key)), state_->reading));
  return row ? std::optional(std::move(row->session)) : std::nullopt;
}

Result<std::vector<Session>> SqliteStore::sessions(const SessionFilter& filter) const {
  return state_->noticed(state_->in_one_state([&] { return select_sessions(state_->reading, filter); }),
                         state_->reading);
}

// How many there must be the row says; where it cannot be read, all of the journal must be.
Result<std::vector<Event>> SqliteStore::events_of_session(const SessionId& id) const {
  const auto read = [&] {
    const auto row = recover_session(state_->reading, id);
    if (!row) return scan_events(state_->reading, id, std::nullopt);
    const bool is_counted = *row && (*row)->events != 0;
    return recover_events(state_->reading, id, is_counted ? std::optional((*row)->events) : std::nullopt);
  };
  return state_->noticed(state_->in_one_state(read), state_->reading, id.value);
}

Result<std::vector<Event>> SqliteStore::events_of_tree(const SessionId& tree) const {
  const auto read = [&] {
    const auto rows = rows_of_tree(state_->reading, tree);
    return recover_events_of_tree(state_->reading, tree,
                                  rows ? std::optional(events_counted(*rows)) : std::nullopt);
  };
  return state_->noticed(state_->in_one_state(read), state_->reading, tree.value);
}

Result<std::int64_t> SqliteStore::post(const Letter& letter) {
  TRY(state_->check_writable());
  TRY(const auto id,
      state_->noticed(state_->closing.after_write(post_letter(state_->reading, letter)), state_->reading));
  // Behind the commit, for the process that holds the tree: it watches the folder, and what SQLite writes of
  // a commit it may hear before the letter can be read. It hears the mark once it can.
  if (const auto far = state_->reading.integer(kHowFar)) {
    const std::lock_guard lock(state_->claims);
    state_->mark.raise(static_cast<std::uint64_t>(*far));
  }
  return id;
}

Result<std::vector<Letter>> SqliteStore::letters(const SessionId& tree) const {
  return state_->noticed(select(state_->reading, kLettersOfTree, tree.value, letter_of_row), state_->reading,
                         tree.value);
}

Result<void> SqliteStore::discard(std::int64_t letter) {
  TRY(state_->check_writable());
  return state_->noticed(state_->closing.after_write(discard_letter(state_->reading, letter)),
                         state_->reading);
}

Task<Result<void>> SqliteStore::record(std::vector<Event> events) {
  return state_->queue.record(std::move(events));
}
void SqliteStore::ride_along(std::vector<Event> events) { state_->queue.ride_along(std::move(events)); }
void SqliteStore::carry(Riders riders) { state_->queue.carry(std::move(riders)); }
void SqliteStore::subscribe(Listener listener) { state_->queue.subscribe(std::move(listener)); }
std::optional<Error> SqliteStore::export_failure() const { return state_->files->failure(); }
std::shared_ptr<const PassedDamage> SqliteStore::damage_passed() const { return state_->damage.passed(); }
bool SqliteStore::can_write() const { return state_->can_write(); }
std::optional<Error> SqliteStore::loss() const {
  return state_->loss ? std::optional(state_->loss->told) : std::nullopt;
}
void SqliteStore::forget_loss() {
  if (!state_->loss || !can_write()) return;
  state_->mark.write(state_->loss->left);
  state_->loss.reset();
}
Store::Counts SqliteStore::counts() const { return state_->queue.counts(); }

}  // namespace deputy
