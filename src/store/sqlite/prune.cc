#include "store/sqlite/prune.h"

#include <fmt/format.h>

#include <set>

#include "base/text.h"
#include "store/sqlite/journal_rows.h"
#include "store/sqlite/quarantine.h"
#include "store/sqlite/select.h"
#include "store/sqlite/session_rows.h"
#include "store/transcript_files.h"
#include "store/unique_facts.h"

namespace deputy {
namespace {

constexpr std::string_view kBytesOfRows =
    "SELECT (SELECT coalesce(sum(length(CAST(body AS BLOB))), 0) FROM journal WHERE tree=?1) +"
    " (SELECT coalesce(sum(length(CAST(fixed AS BLOB)) + length(CAST(prompt AS BLOB)) +"
    " length(CAST(result AS BLOB)) + length(CAST(error AS BLOB))), 0) FROM sessions WHERE tree=?1)";

constexpr std::string_view kLastRecord = "SELECT coalesce(max(seq), 0) FROM journal";

// Nothing of a tree is written before all of it was read and found whole.
Result<void> check_whole(const Database& database, const SessionId& tree) {
  TRY(const auto rows, rows_of_tree(database, tree));
  TRY(select_events_of_tree(database, tree, events_counted(rows)));
  return {};
}

Result<void> check_ended(const std::vector<Session>& sessions, const SessionId& tree) {
  if (sessions.empty())
    return fail(ErrorCode::not_found, "there is no tree " + tree.value, "see `deputy sessions ls`");
  for (const Session& session : sessions) {
    if (is_terminal(session.state)) continue;
    return fail(ErrorCode::invalid, fmt::format("{} has not ended", tree.value),
                fmt::format("finish it with `deputy resume {0}`; to give it up, run `deputy sessions cancel "
                            "{0}` before",
                            tree.value));
  }
  return {};
}

// How far the journal had come (kHowFar) must not fall, or the next start would take for lost what has gone:
// what its end falls by is added to the count of letters, which has no other use for its gaps.
Result<void> delete_rows(const Database& database, const SessionId& tree) {
  TRY(const auto before, database.integer(kLastRecord));
  for (const auto* table : {"journal", "inbox", "sessions", "trees"}) {
    TRY(auto remove, database.prepare(fmt::format("DELETE FROM {} WHERE tree=?", table)));
    TRY(remove.bind(tree.value).run());
  }
  TRY(const auto after, database.integer(kLastRecord));
  if (before == after) return {};
  TRY(const auto counted, database.integer("SELECT count(*) FROM sqlite_sequence WHERE name='inbox'"));
  TRY(auto raise,
      database.prepare(counted == 0 ? "INSERT INTO sqlite_sequence (seq, name) VALUES (?, 'inbox')"
                                    : "UPDATE sqlite_sequence SET seq=seq+? WHERE name='inbox'"));
  return raise.bind(before - after).run();
}

template <class Goes>
Result<void> add_files(const Folder& home, const std::string& folder, Goes goes,
                       std::vector<std::string>& files) {
  const auto entries = home.list(folder);
  if (!entries && entries.error().code == ErrorCode::not_found) return {};
  if (!entries) return std::unexpected(entries.error());
  for (const Entry& entry : *entries) {
    if (entry.status.kind == EntryKind::file && goes(entry.name))
      files.push_back(join_path(folder, entry.name));
  }
  return {};
}

std::string reports_for(const Session& session) {  // see delegation/report_desk.h
  return join_path("reports", safe_file_name(session.id.value));
}

}  // namespace

Result<Pruning> Pruning::open(const Folder& home) {
  TRY(auto database, Database::open(join_path(home.path(), "deputy.db"), Database::Mode::read_write));
  TRY(auto locks, TreeLocks::open(home));
  TRY(const auto look, look_for_loss(home));
  if (look.loss && look.loss->only_to_read) return std::unexpected(look.loss->told);
  const auto pages = database.check_pages();
  const auto rows = select_sessions(database, {.most = kAllSessions});
  const std::string passed = database.take_damage();
  std::optional<Error> damage;
  if (!pages || !rows || !passed.empty()) {
    damage = !pages ? pages.error() : !rows ? rows.error() : damaged_database(database.path(), "rows of it");
    const auto copy = set_aside(home, database, "database", damage->message + passed);
    if (!copy)
      return fail(copy.error().code,
                  fmt::format("{}; it could not be copied: {}", damage->message, copy.error().message),
                  copy.error().advice);
    damage->advice =
        fmt::format("a copy of what was found is in {}, and it is not made smaller", copy->folder);
  }
  database.at_close(damage ? Database::AtClose::leave_log : Database::AtClose::write_back);
  return Pruning(home, std::move(database), std::move(locks), std::move(damage));
}

// Its sessions, where it may go.
Result<std::vector<Session>> Pruning::removable(const SessionId& tree) const {
  TRY(auto sessions, select_sessions(database_, {.tree = tree, .most = kAllSessions}));
  TRY(check_ended(sessions, tree));
  TRY(check_whole(database_, tree));
  if (database_.has_met_damage())
    return fail(ErrorCode::corrupt, fmt::format("{} is damaged: a row of it cannot be read", tree.value));
  return sessions;
}

Result<std::vector<std::string>> Pruning::files_of(const std::vector<Session>& sessions) const {
  std::vector<std::string> files;
  std::set<std::string, std::less<>> ids;
  for (const Session& session : sessions) {
    ids.insert(session.id.value);
    for (const auto& name : TranscriptFiles::names_for(session)) {
      std::string path = join_path("subagent", name);
      if (home_->status(path)) files.push_back(std::move(path));
    }
    TRY(add_files(*home_, reports_for(session), [](std::string_view) { return true; }, files));
  }
  // "{session}.{run}.{step}.{call}", see tools/command_record.h
  TRY(add_files(
      *home_, "commands",
      [&ids](std::string_view name) { return ids.contains(name.substr(0, name.find('.'))); }, files));
  return files;
}

Result<Pruning::Size> Pruning::measured(const SessionId& tree, const std::vector<Session>& sessions,
                                        const std::vector<std::string>& files) const {
  TRY(const auto rows, select(database_, kBytesOfRows, tree.value,
                              [](const Statement& row) -> Result<std::int64_t> { return row.integer(0); }));
  Size size{
      .sessions = sessions.size(), .files = files.size(), .bytes = static_cast<std::uint64_t>(rows.front())};
  for (const auto& file : files) {
    if (const auto status = home_->status(file)) size.bytes += status->size;
  }
  return size;
}

Error Pruning::held(const SessionId& tree) const {
  return held_elsewhere(tree, other_holder(database_, locks_, tree).value_or("another process"));
}

Result<Pruning::Size> Pruning::size_of(const SessionId& tree) const {
  if (locks_.is_held_by_another(tree)) return std::unexpected(held(tree));
  TRY(const auto one_state, Transaction::begin_reading(database_));
  TRY(const auto sessions, removable(tree));
  TRY(const auto files, files_of(sessions));
  return measured(tree, sessions, files);
}

Result<Pruning::Size> Pruning::remove(const SessionId& tree) {
  TRY(const bool is_ours, locks_.take(tree));
  if (!is_ours) return std::unexpected(held(tree));
  auto removed = remove_held(tree);
  locks_.release(tree);
  return kept_as_found(after_write(std::move(removed)), tree);
}

Result<Pruning::Size> Pruning::kept_as_found(Result<Size> result, const SessionId& tree) {
  (void)database_.take_damage();
  if (result || result.error().code != ErrorCode::corrupt) return result;
  if (!damage_) damage_ = result.error();
  database_.at_close(Database::AtClose::leave_log);
  TRY(set_aside(*home_, database_, tree.value, result.error().message));
  return result;
}

// The files go first: of a session that the database does not know they would stay for ever.
Result<Pruning::Size> Pruning::remove_held(const SessionId& tree) const {
  TRY(auto transaction, Transaction::begin(database_));
  TRY(const auto sessions, removable(tree));
  TRY(const auto files, files_of(sessions));
  TRY(auto size, measured(tree, sessions, files));
  for (const auto& file : files) TRY(home_->remove(file));
  for (const Session& session : sessions) (void)home_->remove(reports_for(session));
  TRY(delete_rows(database_, tree));
  TRY(transaction.commit());
  return size;
}

Result<void> Pruning::write_back() const {
  TRY(after_write(database_.write_back()));
  return {};
}

Result<void> Pruning::give_back_space() const {
  if (damage_) return {};  // it stays as it is, as far as it can
  TRY(const auto unused, database_.integer("PRAGMA freelist_count"));
  if (unused > 0) TRY(after_write(database_.execute("VACUUM")));
  // Where others read just now, the last of them to close does it.
  const auto emptied = after_write(database_.execute("PRAGMA wal_checkpoint(TRUNCATE)"));
  return !emptied && emptied.error().code == ErrorCode::io ? emptied : Result<void>{};
}

}  // namespace deputy
