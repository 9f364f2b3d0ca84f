#include "store/sqlite/leftovers.h"

#include <map>
#include <set>

#include "store/sqlite/database.h"
#include "store/sqlite/journal_rows.h"
#include "store/sqlite/quarantine.h"
#include "store/sqlite/session_rows.h"
#include "store/sqlite/tree_locks.h"
#include "store/transcript_files.h"

namespace deputy {
namespace {

Result<Database> open_database(const Folder& home) {
  return Database::open(join_path(home.path(), "deputy.db"), Database::Mode::read_write);
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

// Rows that cannot be read hide no file that is there.
std::vector<Session> of_unfinished_trees(const Database& database, WallTime now) {
  auto left = select_sessions(database, {.unfinished_only = true, .most = kAllSessions})
                  .value_or(std::vector<Session>{});
  std::set<SessionId> trees;
  for (const Session& session : left) trees.insert(session.tree);
  for (const SessionId& tree : trees) {
    const auto all = select_sessions(database, {.tree = tree, .most = kAllSessions});
    for (const Session& session : all.value_or(std::vector<Session>{}))
      if (session.ended_at && is_terminal(session.state) && now - *session.ended_at <= kKeptFor)
        left.push_back(session);
  }
  return left;
}

}  // namespace

Result<std::vector<Uuid>> unsealed_transcripts(const Folder& home, WallTime now) {
  TRY(auto folder, home.open_folder("subagent"));
  TRY(const auto database, Database::open(join_path(home.path(), "deputy.db"), Database::Mode::read_only));
  TRY(database.execute("PRAGMA cache_size=-256"));  // KiB: each page of many is read once
  return TranscriptFiles(std::move(folder)).unsealed(of_unfinished_trees(database, now));
}

// While the transaction lasts nobody can claim the tree: who is about to waits, and then opens the transcript
// again.
Result<void> seal_leftover(const Folder& home, const Uuid& uuid) {
  TRY(const auto database, open_database(home));
  TRY(const auto locks, TreeLocks::open(home));
  TRY(auto transaction, Transaction::begin(database));
  TRY(const auto row, select_session(database, "uuid", uuid.value));
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
  TRY(const auto database, open_database(home));
  std::map<Uuid, std::vector<std::string>> old;
  for (const Entry& entry : entries) {
    const auto uuid = TranscriptFiles::uuid_in(entry.name);
    if (uuid && now - entry.status.modified > kKeptFor) old[*uuid].push_back(entry.name);
  }
  Removal removal;
  for (const auto& [uuid, names] : old) {
    // While it lasts nobody can go on with the session.
    TRY(auto transaction, Transaction::begin(database));
    const auto row = select_session(database, "uuid", uuid.value);
    if (!row || !*row || !is_terminal((*row)->session.state)) continue;  // also where the row is damaged
    for (const auto& name : names) removal.remove(*folder, name);
    TRY(transaction.commit());
  }
  TRY(prune_command_records(home, database, now, removal));
  return removal.result();
}

}  // namespace deputy
