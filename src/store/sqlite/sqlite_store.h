// The store on disk: $DEPUTY_HOME/deputy.db. Durable means synced. Several processes may share the folder;
// each tree has one writer at a time, and a process opens the folder once: its locks are the process's.
// Nothing of a tree is written before all that is kept of it has been read and found whole. Where the disk is
// full, that the trees stopped there is still recorded.
#pragma once

#include <memory>
#include <optional>

#include "async/pool.h"
#include "base/disk.h"
#include "store/sqlite/passed_damage.h"
#include "store/store.h"
#include "store/writer.h"

namespace deputy {

class SqliteStore final : public Store {
 public:
  // Opens or makes the database in `home`. When it fails, what was recorded is as it was; of a new one there
  // may be empty files, which the next open() fills.
  static Result<std::unique_ptr<SqliteStore>> open(Loop& loop, const Folder& home,
                                                   std::unique_ptr<StoreWriter> writer);
  ~SqliteStore() override;  // what was queued is committed

  Task<Result<void>> record(std::vector<Event> events) override;
  void ride_along(std::vector<Event> events) override;
  Result<std::vector<Event>> claim(const SessionId& tree) override;
  void release(const SessionId& tree) override;
  Result<std::optional<std::string>> holder(const SessionId& tree) const override;
  Result<std::optional<Session>> session(const SessionId& id) const override;
  Result<std::vector<Session>> sessions(const SessionFilter& filter) const override;
  Result<std::vector<Event>> events_of_session(const SessionId& id) const override;
  Result<std::vector<Event>> events_of_tree(const SessionId& tree) const override;
  Result<std::optional<Session>> child_of(const DelegationKey& key) const override;
  Result<std::int64_t> post(const Letter& letter) override;
  Result<std::vector<Letter>> letters(const SessionId& tree) const override;
  Result<void> discard(std::int64_t letter) override;
  void carry(Riders riders) override;
  void subscribe(Listener listener) override;
  Counts counts() const override;
  std::optional<Error> export_failure() const override;
  // False where a page is damaged to which new records would go: then there is a loss that cannot be
  // forgotten. Or where the folder may only be read. What can be read is, and nothing can be claimed or
  // posted.
  bool can_write() const;
  Result<void> check_writable() const;  // and why not
  // What was found lost when it was opened; every opening finds it until it is forgotten, which is for when
  // it was told.
  std::optional<Error> loss() const;
  void forget_loss();
  std::shared_ptr<const PassedDamage> damage_passed() const;

 private:
  struct State;
  explicit SqliteStore(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace deputy
