#include "store/sqlite/leftovers.h"

#include <fmt/format.h>

#include <map>
#include <set>

#include "store/sqlite/database.h"
#include "store/sqlite/journal_rows.h"
#include "store/sqlite/quarantine.h"
#include "store/sqlite/select.h"
#include "store/sqlite/session_rows.h"
#include "store/sqlite/tree_locks.h"
#include "store/transcript_files.h"

namespace deputy {
namespace {

// KiB of a cache: of many pages each is read once. What a thread of the pool once had stays with the process.
Result<Database> open_database(const Folder& home, Database::Mode mode) {
  TRY(auto database, Database::open(join_path(home.path(), "deputy.db"), mode));
  TRY(database.execute("PRAGMA cache_size=-256"));
  return database;
}

// One that cannot be removed keeps no other; what another process removed first is gone as well.
class Removal {
 public:
  void remove(const Folder& folder, const std::string& name) {
    auto removed = folder.remove(name);
    if (!removed && removed.error().code != ErrorCode::not_found && result_) result_ = std::move(removed);
  }
  Result<void> result() const { return result_; }

 private:
  Result<void> result_;
};

// To look at every file there is takes longer than to start a tree: it is done now and then. An empty file
// tells by its own time when that was.
constexpr std::string_view kPruned = "pruned";

bool is_pruned(const Folder& home, WallTime now) {
  const auto last = home.status(kPruned);
  return last && last->modified <= now && now - last->modified < kPrunedEvery;
}

// "{session}.{run}.{step}.{call}", see tools/command_record.h
// A chat between two turns has ended as well, and may be resumed: its records stay as long as its transcript.
Result<void> prune_command_records(const Folder& home, const Database& database, WallTime now,
                                   Removal& removal) {
  const auto folder = home.open_folder("commands");
  if (!folder) return {};
  TRY(const auto entries, (*folder)->list("."));
  std::map<std::string, bool> ended;
  for (const Entry& entry : entries) {
    if (now - entry.status.modified <= kKeptFor) continue;
    const std::string session = entry.name.substr(0, entry.name.find('.'));
    if (!ended.contains(session)) {
      TRY(const auto row, select_session(database, "id", session));
      ended[session] = row && is_terminal(row->session.state);
    }
    if (ended[session]) removal.remove(**folder, entry.name);
  }
  return {};
}

// No index knows them: all rows are read, once for however many.
Result<std::map<Uuid, Leftover>> sessions_of(const Database& database, const std::set<Uuid>& uuids) {
  std::map<Uuid, Leftover> found;
  if (uuids.empty()) return found;
  TRY(for_each_row(
      database, "SELECT uuid, id, tree FROM sessions", "", [&](const Statement& row) -> Result<void> {
        Uuid uuid(row.text(0));
        if (uuids.contains(uuid))
          found.emplace(std::move(uuid), Leftover{SessionId(row.text(1)), SessionId(row.text(2))});
        return {};
      }));
  return found;
}

Result<std::vector<SessionId>> ended_last(const Database& database) {
  const auto sql = fmt::format(
      "SELECT DISTINCT session FROM (SELECT session, kind FROM journal ORDER BY seq DESC LIMIT {}) WHERE "
      "kind='ended'",
      kLastRecords);
  return select(database, sql, "",
                [](const Statement& row) -> Result<SessionId> { return SessionId(row.text(0)); });
}

struct Places {
  Database database;
  TreeLocks locks;
  TranscriptFiles files;
};

// Whatever an index says: for a look that may take its time.
std::set<SessionId> unfinished_trees(const Database& database) {
  const auto all = select_sessions(database, {.unfinished_only = true, .most = kAllSessions});
  std::set<SessionId> trees;
  for (const Session& session : all.value_or(std::vector<Session>{})) trees.insert(session.tree);
  return trees;
}

// Of these trees; what cannot be read of one hides no other.
void add_of_trees(const Places& in, const std::set<SessionId>& trees, WallTime now,
                  std::set<Leftover>& unsealed) {
  for (const SessionId& tree : trees) {
    if (in.locks.is_held_by_another(tree)) continue;
    const auto all = select_sessions(in.database, {.tree = tree, .most = kAllSessions});
    for (const Session& session : all.value_or(std::vector<Session>{})) {
      const bool is_kept =
          !is_terminal(session.state) || (session.ended_at && now - *session.ended_at <= kKeptFor);
      if (in.files.is_begun(session) || (is_kept && !in.files.is_sealed(session)))
        unsealed.insert({session.id, session.tree});
    }
  }
}

// At the end of a tree each transcript was begun.
void add_of_ended_last(const Places& in, std::set<Leftover>& unsealed) {
  for (const SessionId& id : ended_last(in.database).value_or(std::vector<SessionId>{})) {
    const auto row = select_session(in.database, "id", id.value);
    if (!row || !*row || in.locks.is_held_by_another((*row)->session.tree)) continue;
    if (in.files.is_begun((*row)->session)) unsealed.insert({id, (*row)->session.tree});
  }
}

void add_of_files(const Places& in, std::set<Leftover>& unsealed) {
  const auto begun = in.files.begun();
  if (!begun) return;
  const auto sessions = sessions_of(in.database, *begun);
  if (!sessions) return;
  for (const auto& [uuid, left] : *sessions) unsealed.insert(left);
}

}  // namespace

Result<std::vector<Leftover>> unsealed_transcripts(const Folder& home, WallTime now) {
  TRY(auto folder, home.open_folder("subagent"));
  TRY(auto database, open_database(home, Database::Mode::read_only));
  TRY(auto locks, TreeLocks::open(home));
  const Places places{std::move(database), std::move(locks), TranscriptFiles(std::move(folder))};
  std::set<Leftover> unsealed;
  add_of_trees(places, unfinished_trees_by_index(places.database), now, unsealed);
  add_of_ended_last(places, unsealed);
  if (!is_pruned(home, now)) {
    add_of_trees(places, unfinished_trees(places.database), now, unsealed);
    add_of_files(places, unsealed);
  }
  return std::vector(unsealed.begin(), unsealed.end());
}

// While the transaction lasts nobody can claim the tree: who is about to waits, and then opens the transcript
// again.
Result<void> seal_leftover(const Folder& home, const Leftover& left) {
  TRY(const auto locks, TreeLocks::open(home));
  if (locks.is_held_by_another(left.tree)) return {};  // who goes on with it meanwhile need not wait
  TRY(const auto database, open_database(home, Database::Mode::read_write));
  TRY(auto transaction, Transaction::begin(database));
  TRY(const auto row, select_session(database, "id", left.session.value));
  if (!row || locks.is_held_by_another(row->session.tree)) return {};
  // A damaged session keeps its files as they are and is copied, before this process writes anything back; it
  // is named when somebody reads it.
  const auto events = select_events(database, row->session.id, std::nullopt);
  if (!events) {
    if (events.error().code == ErrorCode::corrupt)
      TRY(set_aside(home, database, row->session.id.value, events.error().message));
    return std::unexpected(events.error());
  }
  TRY(auto folder, home.open_folder("subagent"));
  TranscriptFiles files(std::move(folder));
  files.seal_left(row->session, EventRefs(events->begin(), events->end()));
  if (auto failure = files.failure()) return std::unexpected(*std::move(failure));
  return transaction.commit();
}

Result<void> prune_files(const Folder& home, WallTime now) {
  if (is_pruned(home, now)) return {};
  TRY(home.replace(kPruned, "", Durable::no));
  TRY(const auto folder, home.open_folder("subagent"));
  TRY(const auto entries, folder->list("."));
  TRY(const auto database, open_database(home, Database::Mode::read_write));
  std::map<Uuid, std::vector<std::string>> old;
  for (const Entry& entry : entries) {
    const auto uuid = TranscriptFiles::uuid_in(entry.name);
    if (uuid && now - entry.status.modified > kKeptFor) old[*uuid].push_back(entry.name);
  }
  std::set<Uuid> uuids;
  for (const auto& [uuid, names] : old) uuids.insert(uuid);
  const auto sessions = sessions_of(database, uuids);
  Removal removal;
  for (const auto& [uuid, left] : sessions.value_or(std::map<Uuid, Leftover>{})) {
    // While it lasts nobody can go on with the session.
    TRY(auto transaction, Transaction::begin(database));
    const auto row = select_session(database, "id", left.session.value);
    if (!row || !*row || !is_terminal((*row)->session.state)) continue;  // also where the row is damaged
    for (const auto& name : old.at(uuid)) removal.remove(*folder, name);
    TRY(transaction.commit());
  }
  TRY(prune_command_records(home, database, now, removal));
  return removal.result();
}

}  // namespace deputy
