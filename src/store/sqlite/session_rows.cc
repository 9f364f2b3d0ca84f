#include "store/sqlite/session_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <map>

#include "base/digest.h"
#include "store/session_view.h"
#include "store/sqlite/journal_rows.h"
#include "store/sqlite/select.h"
#include "transcript/codec.h"
#include "transcript/names.h"

namespace deputy {

namespace {

std::int64_t micros(WallTime time) { return time.time_since_epoch().count(); }

std::optional<std::int64_t> micros(const std::optional<WallTime>& time) {
  if (!time) return std::nullopt;
  return micros(*time);
}

WallTime wall(std::int64_t value) { return WallTime{std::chrono::microseconds{value}}; }

std::optional<WallTime> wall(std::optional<std::int64_t> value) {
  if (!value) return std::nullopt;
  return wall(*value);
}

constexpr std::string_view kColumns =
    "id, state, run, result, error, reason, created_us, started_us, ended_us, last_event_us, last_activity, "
    "steps, input_tokens, output_tokens, cache_read, cache_write, cost_micros, fixed, wait, events, crc, "
    "rowid";
constexpr int kCrc = 20;
constexpr int kPlace = 21;

// A row as it is kept, or the id of one that cannot be believed.
struct Read {
  SessionRow row;
  std::optional<std::string> damaged;  // even its id may be gone
};

// Over all that a session is made from, in the order of kColumns; NULL counts as nothing.
class Checksum {
 public:
  void add(std::string_view value) {
    const fmt::format_int size(value.size());
    crc_.feed({size.data(), size.size()});
    crc_.feed(":");
    crc_.feed(value);
    crc_.feed(",");
  }
  void add(std::int64_t value) {
    const fmt::format_int digits(value);
    add(std::string_view(digits.data(), digits.size()));
  }
  template <class T>
  void add(const std::optional<T>& value) {
    value ? add(*value) : add(std::string_view());
  }
  std::int64_t sum() const { return crc_.value(); }

 private:
  Crc32 crc_;
};

Result<Session> session_of_row(const Statement& row) {
  TRY(const auto fixed, parse_json_object(row.text(17)));
  TRY(auto session, session_from_json(fixed));
  const auto state = session_state_from(row.text(1));
  const auto reason = value_in(kReasons, row.text(5));
  if (!state || !reason)
    return fail(ErrorCode::corrupt, "session " + session.id.value + " has an unknown state");
  session.state = *state;
  session.run = static_cast<int>(row.integer(2));
  session.result = row.text(3);
  session.error = row.text(4);
  session.reason = *reason;
  session.created_at = wall(row.integer(6));
  session.started_at = wall(row.maybe_integer(7));
  session.ended_at = wall(row.maybe_integer(8));
  session.last_event_at = wall(row.integer(9));
  session.last_activity = row.text(10);
  session.steps = static_cast<int>(row.integer(11));
  session.usage = {.input = row.integer(12),
                   .output = row.integer(13),
                   .cache_read = row.integer(14),
                   .cache_write = row.integer(15),
                   .cost_micros = row.maybe_integer(16)};
  if (const auto wait = row.maybe_text(18)) {
    TRY(const auto read, parse_json_object(*wait));
    session.wait = wait_from_json(read);
  }
  return session;
}

Result<Read> read_row(const Statement& row) {
  Read read;
  auto session = session_of_row(row);
  const auto crc = row.maybe_integer(kCrc);
  Checksum sum;
  for (int column = 0; column < kCrc; ++column) sum.add(row.text(column));
  if (!session || session->id.value != row.text(0) || (crc && *crc != sum.sum())) {
    read.damaged = row.text(0);
    return read;
  }
  read.row = {*std::move(session), row.integer(kCrc - 1), row.integer(kPlace)};
  return read;
}

Result<SessionRow> row_of(const Result<std::vector<Event>>& events) {
  if (!events) return std::unexpected(events.error());
  SessionRow row{.events = static_cast<std::int64_t>(events->size())};
  for (const Event& event : *events) apply_to_session(row.session, event);
  return row;
}

// What the rows must say, from the truth and without an index: of one tree, or of all that can be read. One
// that is damaged itself is named by whoever asks for it.
Result<std::vector<SessionRow>> rows_from_journal(const Database& database, const SessionId& only) {
  const auto all = journal_places(database);
  if (!only.empty() && !all.is_whole)
    return fail(ErrorCode::corrupt,
                fmt::format("{} is damaged: neither its sessions nor all records can be read", only.value),
                "the other sessions can still be read: `deputy sessions ls`");
  std::map<SessionId, std::vector<std::int64_t>> places;
  for (const auto& place : all.places)
    if (only.empty() || place.tree == only) places[place.session].push_back(place.seq);
  std::vector<SessionRow> rows;
  for (const auto& [id, of_session] : places) {
    auto row = row_of(events_at(database, id, of_session, std::nullopt));
    if (!row && !only.empty()) return std::unexpected(std::move(row).error());
    if (row) rows.push_back(*std::move(row));
  }
  return rows;
}

Result<std::optional<SessionRow>> row_from_journal(const Database& database, const SessionId& id) {
  TRY(auto row, row_of(scan_events(database, id, std::nullopt)));
  return row.events == 0 ? std::nullopt : std::optional(std::move(row));
}

// Whether the rows of a tree account for all its records; an index that is damaged hides some.
bool are_all(const Database& database, const SessionId& tree, const std::vector<Read>& rows) {
  std::int64_t events = 0;
  for (const Read& read : rows) {
    if (read.row.events == 0) return true;  // of before they were counted
    events += read.row.events;
  }
  const auto last = select(database, "SELECT coalesce(max(number), 0) FROM journal WHERE tree=?", tree.value,
                           [](const Statement& row) -> Result<std::int64_t> { return row.integer(0); });
  return last && last->front() == events;
}

constexpr std::string_view kUnfinishedStates = "('pending', 'running', 'waiting', 'interrupted')";

bool is_unfinished(const Session& session) { return !is_terminal(session.state); }

bool fits(const Session& session, const SessionFilter& filter) {
  return (!filter.parent || session.parent == filter.parent) &&
         (!filter.tree || session.tree == *filter.tree) && (!filter.roots_only || !session.parent) &&
         (!filter.unfinished_only || is_unfinished(session));
}

// What changes in a session's life, in the order in which both statements take it.
void bind_changing(Statement& put, SessionRow& row) {
  const Session& session = row.session;
  if (row.settled.empty()) row.settled = to_json_text(to_json(session));
  assert(row.settled == to_json_text(to_json(session)));
  const auto wait = session.wait ? std::optional(to_json_text(to_json(*session.wait))) : std::nullopt;
  put.bind(row.settled);
  Checksum sum;
  sum.add(session.id.value);
  const auto bind = [&put, &sum](const auto& value) {
    put.bind(value);
    sum.add(value);
  };
  bind(name_of(session.state));
  bind(std::int64_t{session.run});
  for (const auto* text : {&session.result, &session.error}) bind(*text);
  bind(name_of(session.reason));
  sum.add(std::int64_t{micros(session.created_at)});
  bind(micros(session.started_at));
  bind(micros(session.ended_at));
  bind(micros(session.last_event_at));
  bind(session.last_activity);
  const Usage& usage = session.usage;
  for (const std::int64_t number :
       {std::int64_t{session.steps}, usage.input, usage.output, usage.cache_read, usage.cache_write})
    bind(number);
  bind(usage.cost_micros);
  sum.add(std::string_view(row.settled));
  bind(wait);
  bind(row.events);
  put.bind(sum.sum());
}

}  // namespace

std::string delegation_text(const DelegationKey& key) {
  return fmt::format("{}/{}", to_text(key.call), key.task);
}

Result<Statement> prepare_put_session(const Database& database) {
  return database.prepare(
      "INSERT INTO sessions (id, uuid, tree, parent, delegation, profile, label, depth, prompt, permissions, "
      "created_us, fixed, state, run, result, error, reason, started_us, ended_us, last_event_us, "
      "last_activity, steps, input_tokens, output_tokens, cache_read, cache_write, cost_micros, wait, "
      "events, crc) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?) "
      "ON CONFLICT (id) DO UPDATE SET fixed=excluded.fixed, wait=excluded.wait, state=excluded.state, "
      "run=excluded.run, result=excluded.result, error=excluded.error, reason=excluded.reason, "
      "started_us=excluded.started_us, ended_us=excluded.ended_us, last_event_us=excluded.last_event_us, "
      "last_activity=excluded.last_activity, steps=excluded.steps, input_tokens=excluded.input_tokens, "
      "output_tokens=excluded.output_tokens, cache_read=excluded.cache_read, "
      "cache_write=excluded.cache_write, cost_micros=excluded.cost_micros, events=excluded.events, "
      "crc=excluded.crc");
}

Result<void> put_session(Statement& put, SessionRow& row) {
  const Session& session = row.session;
  std::optional<std::string> parent;
  if (session.parent) parent = session.parent->value;
  std::optional<std::string> delegation;
  if (session.delegation) delegation = delegation_text(*session.delegation);
  put.bind(session.id.value).bind(session.uuid.value).bind(session.tree.value).bind(parent).bind(delegation);
  put.bind(session.agent).bind(session.label).bind(std::int64_t{session.depth}).bind(session.prompt);
  put.bind(session.permissions).bind(micros(session.created_at));
  bind_changing(put, row);
  TRY(put.run());
  row.put_as = session.state;
  return {};
}

Result<Statement> prepare_change_session(const Database& database) {
  return database.prepare(
      "UPDATE sessions SET fixed=?1, run=?3, result=?4, error=?5, reason=?6, started_us=?7, ended_us=?8, "
      "last_event_us=?9, last_activity=?10, steps=?11, input_tokens=?12, output_tokens=?13, cache_read=?14, "
      "cache_write=?15, cost_micros=?16, wait=?17, events=?18, crc=?19 WHERE id=?20 AND state=?2");
}

Result<bool> change_session(Statement& change, SessionRow& row) {
  bind_changing(change, row);
  TRY(const int changed, change.bind(row.session.id.value).run_counted());
  return changed > 0;
}

Result<std::optional<SessionRow>> select_session(const Database& database, std::string_view column,
                                                 std::string_view value) {
  const auto sql = fmt::format("SELECT {} FROM sessions WHERE {}=?", kColumns, column);
  TRY(auto found, select(database, sql, value, read_row));
  if (found.empty()) return std::nullopt;
  if (!found.front().damaged) return std::move(found.front().row);
  database.note_damage(value);
  return row_from_journal(database, SessionId(column == "id" ? std::string(value) : *found.front().damaged));
}

Result<std::optional<SessionRow>> recover_session(const Database& database, const SessionId& id) {
  auto row = select_session(database, "id", id.value);
  if (row ? row->has_value() : row.error().code != ErrorCode::corrupt) return row;
  if (row) {
    const auto records = select_events(database, id, std::nullopt);
    if (records && records->empty()) return row;  // there is no such session
  }
  database.note_damage(id.value);
  return row_from_journal(database, id);
}

std::set<SessionId> unfinished_trees_by_index(const Database& database) {
  const auto sql = fmt::format("SELECT tree FROM sessions INDEXED BY sessions_by_state WHERE state IN {}",
                               kUnfinishedStates);
  std::set<SessionId> trees;
  (void)for_each_row(database, sql, "", [&trees](const Statement& row) -> Result<void> {
    trees.insert(SessionId(row.text(0)));
    return {};
  });
  return trees;
}

Result<std::map<SessionId, SessionRow>> rows_of_tree(const Database& database, const SessionId& tree) {
  const auto sql = fmt::format("SELECT {} FROM sessions WHERE tree=?", kColumns);
  std::map<SessionId, SessionRow> rows;  // a damaged index may lead to a row twice, or to another tree's
  TRY(for_each_row(database, sql, tree.value, [&](const Statement& row) -> Result<void> {
    TRY(auto read, read_row(row));
    if (read.damaged || read.row.session.tree != tree) return {};
    SessionId id = read.row.session.id;
    rows.insert_or_assign(std::move(id), std::move(read.row));
    return {};
  }));
  return rows;
}

std::int64_t events_counted(const std::map<SessionId, SessionRow>& rows) {
  std::int64_t sum = 0;
  for (const auto& [id, row] : rows) sum += row.events;
  return sum;
}

Result<std::vector<Session>> select_sessions(const Database& database, const SessionFilter& filter) {
  std::string where = "1";
  std::string parameter;
  // By no index but that of the tree: nobody would notice what one hides, where no count tells of it.
  if (filter.parent) {
    where += " AND +parent=?1";
    parameter = filter.parent->value;
  } else if (filter.tree) {
    where += " AND tree=?1";
    parameter = filter.tree->value;
  }
  if (filter.roots_only) where += " AND +parent IS NULL";
  if (filter.unfinished_only) where += fmt::format(" AND +state IN {}", kUnfinishedStates);
  const auto sql = fmt::format("SELECT {} FROM sessions WHERE {} ORDER BY created_us DESC, id DESC LIMIT {}",
                               kColumns, where, filter.most);
  std::vector<Session> sessions;
  auto found = select(database, sql, parameter, read_row);
  const bool is_whole_tree = filter.tree && !filter.parent && !filter.roots_only && !filter.unfinished_only;
  const auto is_meant = [&filter](const Read& read) {
    return !read.damaged && fits(read.row.session, filter);
  };
  if (found && std::ranges::all_of(*found, is_meant) &&
      (!is_whole_tree || found->size() >= filter.most || are_all(database, *filter.tree, *found))) {
    for (Read& read : *found) sessions.push_back(std::move(read.row.session));
    return sessions;
  }
  if (!found && found.error().code != ErrorCode::corrupt) return std::unexpected(found.error());
  for (const Read& read : found ? *found : std::vector<Read>{})
    if (!is_meant(read)) database.note_damage(read.damaged.value_or(read.row.session.id.value));
  if (!database.has_met_damage())
    database.note_damage(found ? "rows of " + parameter : found.error().message);
  TRY(auto rows, rows_from_journal(database, filter.tree.value_or(SessionId{})));
  for (SessionRow& row : rows) {
    if (fits(row.session, filter)) sessions.push_back(std::move(row.session));
  }
  std::ranges::sort(sessions, std::ranges::greater{},
                    [](const Session& session) { return std::tuple(session.created_at, session.id); });
  if (sessions.size() > filter.most) sessions.resize(filter.most);
  return sessions;
}

}  // namespace deputy
