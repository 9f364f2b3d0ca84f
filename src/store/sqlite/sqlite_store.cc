#include "store/sqlite/sqlite_store.h"

#include <fmt/format.h>

#include <mutex>

#include "store/sqlite/inbox_rows.h"
#include "store/sqlite/journal_rows.h"
#include "store/sqlite/migrate.h"
#include "store/sqlite/select.h"
#include "store/sqlite/sqlite_store_state.h"
#include "store/unique_facts.h"

namespace deputy {

namespace {

// Where something was kept, and no more can be.
bool may_only_be_read(const Folder& home) {
  const auto mark = DiskMark::open(home, kMarkName, IfAbsent::fail);
  return mark && !mark->can_be_written();
}

// It is not brought to the newest version.
Result<void> check_readable(const Database& database) {
  TRY(const auto version, database.integer("PRAGMA user_version"));
  if (is_readable_schema(version)) return {};
  return fail(ErrorCode::denied,
              fmt::format("{} is of schema {}, and nothing can be written there to bring it to schema {}",
                          database.path(), version, newest_schema()),
              "make the folder writable, or choose another with --home");
}

}  // namespace

SqliteStore::SqliteStore(std::unique_ptr<State> state) : state_(std::move(state)) {}
SqliteStore::~SqliteStore() = default;

Result<std::unique_ptr<SqliteStore>> SqliteStore::open(Loop& loop, const Folder& home,
                                                       std::unique_ptr<StoreWriter> writer) {
  const std::string path = join_path(home.path(), "deputy.db");
  TRY(check_unopened(home));
  TRY(auto own_home, home.open_folder("."));
  TRY(auto look, look_for_loss(home));
  // Made here so that it is for the owner alone; SQLite gives its companions the same mode.
  if (!home.status("deputy.db")) TRY(home.append_to("deputy.db", ""));
  const bool only_to_read = (look.loss && look.loss->only_to_read) || may_only_be_read(home);
  const auto mode = only_to_read ? Database::Mode::read_only : Database::Mode::read_write;
  TRY(auto writing, Database::open(path, mode));
  TRY(only_to_read ? check_readable(writing) : migrate(writing));
  look.database.reset();
  TRY(auto mark, DiskMark::open(home, kMarkName));
  if (!home.status("subagent")) TRY(home.make_folder("subagent"));
  TRY(auto transcripts, home.open_folder("subagent"));
  TRY(auto reading, Database::open(path, mode));
  // KiB. Who looks through all sessions would otherwise hold what it read, the more the longer deputy has
  // been in use.
  TRY(reading.execute("PRAGMA cache_size=-512"));
  TRY(auto locks, TreeLocks::open(home));
  auto state = std::make_unique<State>(
      loop,
      State::Parts{std::move(own_home), std::move(writing), std::move(reading), std::move(locks),
                   std::move(mark), std::make_unique<TranscriptFiles>(std::move(transcripts)),
                   std::move(look.loss)},
      std::move(writer));
  TRY(state->insert_event, prepare_put_event(state->writing));
  TRY(state->select_epoch, state->writing.prepare("SELECT epoch FROM trees WHERE tree=?"));
  TRY(state->select_far, state->writing.prepare(kHowFar));
  TRY(state->put_row, prepare_put_session(state->writing));
  TRY(state->change_row, prepare_change_session(state->writing));
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
  state.let_go(tree);
  return state.damage.kept_as_found(std::move(taken), state.reading, tree.value);
}

void SqliteStore::release(const SessionId& tree) {
  const std::lock_guard lock(state_->claims);
  state_->let_go(tree);
}

Result<std::optional<std::string>> SqliteStore::holder(const SessionId& tree) const {
  State& state = *state_;
  if (state.holding.contains(tree)) return state.noticed(last_holder(state.reading, tree), state.reading);
  if (!state.locks.is_held_by_another(tree)) return std::nullopt;
  return state.noticed(other_holder(state.reading, state.locks, tree), state.reading);
}

Result<std::optional<Session>> SqliteStore::session(const SessionId& id) const {
  if (const Session* known = state_->as_claimed.session(id)) return *known;
  TRY(auto row, state_->noticed(state_->in_one_state([&] { return recover_session(state_->reading, id); }),
                                state_->reading));
  return row ? std::optional(std::move(row->session)) : std::nullopt;
}

Result<std::optional<Session>> SqliteStore::child_of(const DelegationKey& key) const {
  if (const Session* known = state_->as_claimed.child_of(key)) return *known;
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
  if (const auto* known = state_->as_claimed.events_of(id)) return *known;
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
Result<void> SqliteStore::check_writable() const { return state_->check_writable(); }
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
