// A folder that a process works in, marked so that other processes can tell. The mark is a lock: it goes with
// the process, however that ends.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "base/disk.h"
#include "sandbox/owned_fd.h"

namespace deputy {

class FolderHold {
 public:
  // Beside others who do; waits for who holds it alone. Nothing where a folder cannot be marked: one in
  // memory, or on a disk without locks.
  static std::optional<FolderHold> shared(const Folder& folder);
  // Nothing where somebody holds it, or where that cannot be told.
  static std::optional<FolderHold> alone(const Folder& folder);
  // Does not wait: ErrorCode::busy where somebody holds it. Nothing as with shared().
  static Result<std::optional<FolderHold>> alone_at_once(const Folder& folder);

  // Whether it still is the folder at its path: who held it before may have removed it.
  bool is_in_place() const;

 private:
  FolderHold(OwnedFd marked, std::string path) : marked_(std::move(marked)), path_(std::move(path)) {}
  static std::optional<FolderHold> take(const Folder& folder, int how);
  OwnedFd marked_;
  std::string path_;
};

}  // namespace deputy
