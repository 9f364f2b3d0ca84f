// Takes whole trees out of what is kept: a tree's files, then its rows, in one transaction. A kill between
// leaves a tree that has lost files at most, and can be pruned again. Never one that has not ended, that a
// process holds, or that is damaged: then a copy of what was found is made before anything goes, and the
// database is not made smaller.
// Blocking, on a connection of its own, beside stores that are in use.
#pragma once

#include "base/disk.h"
#include "store/sqlite/database.h"
#include "store/sqlite/tree_locks.h"
#include "transcript/session.h"

namespace deputy {

class Pruning {
 public:
  // `home` outlives it, and its database is there: it was opened as a store before. Fails where something is
  // damaged and cannot be copied.
  static Result<Pruning> open(const Folder& home);

  struct Size {
    std::size_t sessions = 0;
    std::size_t files = 0;
    std::uint64_t bytes = 0;  // of the files and of what the rows say
    bool operator==(const Size&) const = default;
  };
  // What has gone. Error::busy where a process holds the tree, Error::invalid where it has not ended,
  // Error::corrupt where it is damaged.
  Result<Size> remove(const SessionId& tree);
  // After each tree, or the log grows by all that goes. An Error only where the disk failed: what was removed
  // is gone, and nothing more may be written.
  Result<void> write_back() const;
  // What would go, or why it would not.
  Result<Size> size_of(const SessionId& tree) const;
  // Makes the database as small as what is left in it. Others that write wait meanwhile.
  Result<void> give_back_space() const;

  // What was found damaged, and where the copy is.
  const std::optional<Error>& damage() const { return damage_; }

 private:
  Pruning(const Folder& home, Database database, TreeLocks locks, std::optional<Error> damage)
      : home_(&home), database_(std::move(database)), locks_(std::move(locks)), damage_(std::move(damage)) {}
  Error held(const SessionId& tree) const;
  Result<std::vector<Session>> removable(const SessionId& tree) const;
  Result<std::vector<std::string>> files_of(const std::vector<Session>& sessions) const;
  Result<Size> measured(const SessionId& tree, const std::vector<Session>& sessions,
                        const std::vector<std::string>& files) const;
  Result<Size> remove_held(const SessionId& tree) const;
  // What a failed sync has lost can be read for a while, and would be written back as if it were there.
  template <class T>
  Result<T> after_write(Result<T> written) const {
    if (!written && written.error().code == ErrorCode::io) database_.at_close(Database::AtClose::leave_log);
    return written;
  }
  Result<Size> kept_as_found(Result<Size> result, const SessionId& tree);

  const Folder* home_;
  Database database_;
  TreeLocks locks_;
  std::optional<Error> damage_;
};

}  // namespace deputy
