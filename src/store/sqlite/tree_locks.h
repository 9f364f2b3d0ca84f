// Which trees are held, as the kernel knows it: $DEPUTY_HOME/deputy.lock; and by whom, as the database does.
#pragma once

#include "base/disk_locks.h"
#include "store/sqlite/database.h"
#include "transcript/ids.h"

namespace deputy {

inline constexpr std::string_view kLockName = "deputy.lock";
inline constexpr std::uint64_t kPastTreePlaces = std::uint64_t{1} << 61;  // no tree's lock is there

class TreeLocks {
 public:
  static Result<TreeLocks> open(const Folder& home);
  Result<bool> take(const SessionId& tree);  // whether it is ours now
  void release(const SessionId& tree);
  bool is_held_by_another(const SessionId& tree) const;
  // For a holder whose name the database has: until then it has that of one before.
  Result<void> show_name(const SessionId& tree);
  bool is_named_by_another(const SessionId& tree) const;

 private:
  explicit TreeLocks(DiskLocks locks) : locks_(std::move(locks)) {}
  DiskLocks locks_;
};

// Who claimed it last, in words.
Result<std::string> last_holder(const Database& database, const SessionId& tree);
// Which other one holds it, for when one does; never one that did before.
Result<std::string> other_holder(const Database& database, const TreeLocks& locks, const SessionId& tree);

}  // namespace deputy
