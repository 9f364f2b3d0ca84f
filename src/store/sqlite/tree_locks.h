// Which trees are held, as the kernel knows it: $DEPUTY_HOME/deputy.lock.
#pragma once

#include "base/disk_locks.h"
#include "transcript/ids.h"

namespace deputy {

class TreeLocks {
 public:
  static Result<TreeLocks> open(const Folder& home);
  Result<bool> take(const SessionId& tree);  // whether it is ours now
  void release(const SessionId& tree);
  bool is_held_by_another(const SessionId& tree) const;

 private:
  explicit TreeLocks(DiskLocks locks) : locks_(std::move(locks)) {}
  DiskLocks locks_;
};

}  // namespace deputy
