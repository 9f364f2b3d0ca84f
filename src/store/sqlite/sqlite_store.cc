#include "store/sqlite/sqlite_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text.h"
#include "store/commit_queue.h"
#include "store/session_view.h"
#include "store/sqlite/database.h"
#include "store/sqlite/inbox_rows.h"
#include "store/sqlite/migrate.h"
#include "store/sqlite/session_rows.h"
#include "store/transcript_files.h"
#include "store/unique_facts.h"

namespace deputy {

namespace {

// What the checksum covers: everything that gives a record its meaning.
std::uint32_t checksum(std::string_view session, std::int64_t run, std::int64_t step, std::int64_t call,
                       std::string_view kind, std::string_view body) {
  return crc32(fmt::format("{}/{}/{}/{}/{}/{}", session, run, step, call, kind, body));
}

// The log is written back into the database past this size; at exit SQLite does it by itself.
constexpr std::size_t kCheckpointBytes = std::size_t{4} << 20;

constexpr std::string_view kEventColumns = "number, tree, session, run, step, call, kind, at_us, body, crc";

Result<Event> event_of_row(const Statement& row) {
  Event event;
  event.seq = static_cast<std::uint64_t>(row.integer(0));
  event.tree = SessionId(row.text(1));
  event.run = {SessionId(row.text(2)), static_cast<int>(row.integer(3))};
  event.step = static_cast<int>(row.integer(4));
  event.call = static_cast<int>(row.integer(5));
  event.at = WallTime{std::chrono::microseconds{row.integer(7)}};
  const std::string kind = row.text(6);
  const std::string body = row.text(8);
  const auto damaged = [&event](std::string_view why) {
    return fail(ErrorCode::corrupt,
                fmt::format("record {} of {} (session {}) is damaged: {}", event.seq, event.tree.value,
                            event.run.session.value, why),
                "the other sessions can still be read: `deputy sessions ls`");
  };
  if (row.integer(9) != checksum(row.text(2), event.run.number, event.step, event.call, kind, body)) {
    return damaged("its checksum does not fit");
  }
  const auto object = parse_json_object(body);
  if (!object) return damaged(object.error().message);
  auto fact = fact_from_json(kind, *object);
  if (!fact) return damaged(fact.error().message);
  event.fact = *std::move(fact);
  return event;
}

template <class Read, class T = typename std::invoke_result_t<Read, const Statement&>::value_type>
Result<std::vector<T>> select(const Database& database, std::string_view sql, std::string_view parameter,
                              Read read) {
  TRY(auto statement, database.prepare(sql));
  if (!parameter.empty()) statement.bind(parameter);
  std::vector<T> found;
  for (;;) {
    TRY(const bool has_row, statement.step());
    if (!has_row) return found;
    TRY(auto value, read(statement));
    found.push_back(std::move(value));
  }
}

Result<std::optional<Session>> select_session(const Database& database, std::string_view column,
                                              std::string_view value) {
  const auto sql = fmt::format("SELECT {} FROM sessions WHERE {}=?", kSessionColumns, column);
  TRY(auto found, select(database, sql, value, session_of_row));
  if (found.empty()) return std::nullopt;
  return std::move(found.front());
}

Result<std::vector<Event>> select_events(const Database& database, const SessionId& id) {
  const auto sql = fmt::format("SELECT {} FROM journal WHERE session=? ORDER BY seq", kEventColumns);
  return select(database, sql, id.value, event_of_row);
}

}  // namespace

Result<void> seal_leftovers(const Folder& home) {
  TRY(auto folder, home.open_folder("subagent"));
  TranscriptFiles files(std::move(folder));
  TRY(const auto unsealed, files.unsealed());
  if (unsealed.empty()) return {};
  TRY(const auto database, Database::open(join_path(home.path(), "deputy.db"), Database::Mode::read_write));
  for (const Uuid& uuid : unsealed) {
    TRY(const auto session, select_session(database, "uuid", uuid.value));
    if (!session || !is_terminal(session->state)) continue;
    // A damaged session keeps its files as they are; it is named when somebody reads it.
    if (const auto events = select_events(database, session->id)) files.rebuild(*session, *events);
  }
  if (auto failure = files.failure()) return std::unexpected(*std::move(failure));
  return {};
}

// The writer's half: used by the store's writer alone once the queue runs, except for claim(), which happens
// before.
struct SqliteStore::State {
  State(Loop& loop, Database writing_to, Database reading_from, std::unique_ptr<TranscriptFiles> transcripts,
        std::unique_ptr<StoreWriter> writer)
      : writing(std::move(writing_to)),
        reading(std::move(reading_from)),
        files(std::move(transcripts)),
        queue(loop, std::move(writer), [this](const EventRefs& events) { return commit(events); }) {}

  Result<void> commit(const EventRefs& events);
  Result<void> insert(const Event& event);
  Result<void> check_epoch(const SessionId& tree);
  Result<Session> row_before(const Event& event);
  Result<void> reopen_transcripts(const EventRefs& events);
  Database writing;
  Database reading;
  std::unique_ptr<TranscriptFiles> files;
  std::mutex claims;  // guards claimed and files against a claim() while the writer works for another tree
  std::map<SessionId, std::int64_t> claimed;
  std::map<SessionId, Session>
      live;  // rows of sessions that have not ended, so that a step need not read its row
  std::size_t uncheckpointed = 0;  // bytes, roughly
  std::optional<Statement> insert_event;
  std::optional<Statement> select_epoch;
  std::optional<Statement> upsert_session;
  CommitQueue queue;
};

SqliteStore::SqliteStore(std::unique_ptr<State> state) : state_(std::move(state)) {}
SqliteStore::~SqliteStore() = default;

Result<std::unique_ptr<SqliteStore>> SqliteStore::open(Loop& loop, const Folder& home,
                                                       std::unique_ptr<StoreWriter> writer) {
  TRY(home.make_folder("subagent"));
  TRY(auto transcripts, home.open_folder("subagent"));
  // Made here so that it is for the owner alone; SQLite gives its companions the same mode.
  if (!home.status("deputy.db")) TRY(home.append_to("deputy.db", ""));
  const std::string path = join_path(home.path(), "deputy.db");
  TRY(auto writing, Database::open(path, Database::Mode::read_write));
  TRY(migrate(writing));
  TRY(auto reading, Database::open(path, Database::Mode::read_write));
  auto state =
      std::make_unique<State>(loop, std::move(writing), std::move(reading),
                              std::make_unique<TranscriptFiles>(std::move(transcripts)), std::move(writer));
  TRY(state->insert_event,
      state->writing.prepare(
          "INSERT INTO journal (tree, number, epoch, session, run, step, call, kind, at_us, body, "
          "crc) VALUES (?,?,?,?,?,?,?,?,?,?,?)"));
  TRY(state->select_epoch, state->writing.prepare("SELECT epoch FROM trees WHERE tree=?"));
  TRY(state->upsert_session, prepare_put_session(state->writing));
  return std::unique_ptr<SqliteStore>(new SqliteStore(std::move(state)));
}

Result<void> SqliteStore::claim(const SessionId& tree) {
  State& state = *state_;
  const std::lock_guard lock(state.claims);
  TRY(auto statement,
      state.reading.prepare("INSERT INTO trees (tree, epoch) VALUES (?, 1) ON CONFLICT (tree) DO UPDATE SET "
                            "epoch=epoch+1 RETURNING epoch"));
  statement.bind(tree.value);
  TRY(const bool has_row, statement.step());
  if (!has_row) return fail(ErrorCode::internal, "claiming " + tree.value + " gave no epoch");
  const auto epoch = statement.integer(0);
  TRY(statement.step());
  TRY(auto last, state.reading.prepare("SELECT coalesce(max(number), 0) FROM journal WHERE tree=?"));
  last.bind(tree.value);
  TRY(last.step());
  TRY(const auto rows, sessions({.tree = tree, .most = 1'000'000}));
  for (const auto& session : rows) {
    // A damaged session keeps its files as they are; it is named when somebody reads it.
    if (const auto events = events_of_session(session.id)) state.files->rebuild(session, *events);
    state.live.insert_or_assign(session.id, session);
  }
  state.claimed[tree] = epoch;
  state.queue.open_tree(tree, static_cast<std::uint64_t>(last.integer(0)));
  return {};
}

Result<void> SqliteStore::State::commit(const EventRefs& events) {
  const std::lock_guard lock(claims);
  TRY(auto transaction, Transaction::begin(writing));
  std::map<SessionId, Session> changed;
  const SessionId* checked = nullptr;
  for (const Event& event : events) {
    if (!checked || *checked != event.tree) TRY(check_epoch(event.tree));
    checked = &event.tree;
    TRY(insert(event));
    auto row = changed.find(event.run.session);
    if (row == changed.end()) {
      TRY(auto before, row_before(event));
      row = changed.emplace(event.run.session, std::move(before)).first;
    }
    apply_to_session(row->second, event);
  }
  for (const auto& [id, session] : changed) TRY(put_session(*upsert_session, session));
  for (const Event& event : events) {
    if (std::holds_alternative<DeadlineMoved>(event.fact) || begins_again(event))
      TRY(put_deadline(writing, changed.at(event.run.session)));
  }
  TRY(transaction.commit());
  for (auto& [id, session] : changed) {
    if (is_terminal(session.state)) {
      live.erase(id);
    } else {
      live.insert_or_assign(id, std::move(session));
    }
  }
  TRY(reopen_transcripts(events));
  files->write(events);
  if (uncheckpointed < kCheckpointBytes) return {};
  uncheckpointed = 0;
  return writing.execute("PRAGMA wal_checkpoint(PASSIVE)");
}

// A session that has ended is not among the live ones; it may begin another run.
Result<Session> SqliteStore::State::row_before(const Event& event) {
  if (const auto known = live.find(event.run.session); known != live.end()) return known->second;
  if (std::holds_alternative<SessionCreated>(event.fact)) return Session{};
  TRY(auto kept, select_session(writing, "id", event.run.session.value));
  return kept ? *std::move(kept) : Session{};
}

Result<void> SqliteStore::State::reopen_transcripts(const EventRefs& events) {
  for (const Event& event : events) {
    if (!begins_again(event)) continue;
    TRY(auto before, select_events(writing, event.run.session));
    std::erase_if(before, [&event](const Event& each) { return each.seq >= event.seq; });
    files->reopen(before);
  }
  return {};
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

Result<void> SqliteStore::State::insert(const Event& event) {
  const std::string body = to_json_text(fact_to_json(event.fact));
  const std::string_view kind = kind_of(event.fact);
  uncheckpointed += body.size();
  insert_event->bind(event.tree.value).bind(static_cast<std::int64_t>(event.seq)).bind(claimed[event.tree]);
  insert_event->bind(event.run.session.value)
      .bind(std::int64_t{event.run.number})
      .bind(std::int64_t{event.step});
  insert_event->bind(std::int64_t{event.call})
      .bind(kind)
      .bind(event.at.time_since_epoch().count())
      .bind(body);
  insert_event->bind(
      std::int64_t{checksum(event.run.session.value, event.run.number, event.step, event.call, kind, body)});
  return insert_event->run();
}

Result<std::optional<Session>> SqliteStore::session(const SessionId& id) const {
  return select_session(state_->reading, "id", id.value);
}

Result<std::optional<Session>> SqliteStore::child_of(const DelegationKey& key) const {
  return select_session(state_->reading, "delegation", delegation_text(key));
}

Result<std::vector<Session>> SqliteStore::sessions(const SessionFilter& filter) const {
  std::string where = "1";
  std::string parameter;
  if (filter.parent) {
    where += " AND parent=?1";
    parameter = filter.parent->value;
  } else if (filter.tree) {
    where += " AND tree=?1";
    parameter = filter.tree->value;
  }
  if (filter.roots_only) where += " AND parent IS NULL";
  if (filter.unfinished_only) where += " AND state IN ('pending', 'running', 'waiting', 'interrupted')";
  const auto sql = fmt::format("SELECT {} FROM sessions WHERE {} ORDER BY created_us DESC, id DESC LIMIT {}",
                               kSessionColumns, where, filter.most);
  return select(state_->reading, sql, parameter, session_of_row);
}

Result<std::vector<Event>> SqliteStore::events_of_session(const SessionId& id) const {
  return select_events(state_->reading, id);
}

Result<std::vector<Event>> SqliteStore::events_of_tree(const SessionId& tree) const {
  const auto sql = fmt::format("SELECT {} FROM journal WHERE tree=? ORDER BY number", kEventColumns);
  return select(state_->reading, sql, tree.value, event_of_row);
}

Result<std::int64_t> SqliteStore::post(const Letter& letter) { return post_letter(state_->reading, letter); }

Result<std::vector<Letter>> SqliteStore::letters(const SessionId& tree) const {
  return select(state_->reading, kLettersOfTree, tree.value, letter_of_row);
}

Result<void> SqliteStore::discard(std::int64_t letter) { return discard_letter(state_->reading, letter); }

Task<Result<void>> SqliteStore::record(std::vector<Event> events) {
  return state_->queue.record(std::move(events));
}
void SqliteStore::ride_along(std::vector<Event> events) { state_->queue.ride_along(std::move(events)); }
void SqliteStore::subscribe(Listener listener) { state_->queue.subscribe(std::move(listener)); }
std::optional<Error> SqliteStore::export_failure() const { return state_->files->failure(); }
Store::Counts SqliteStore::counts() const { return state_->queue.counts(); }

}  // namespace deputy
