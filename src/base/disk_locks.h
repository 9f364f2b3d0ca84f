// Locks on the places of one file: each place is held by one holder at a time, and the kernel lets go of it
// when the holder's process ends, however it ends. A place is any number; the file stays empty.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "base/disk.h"

namespace deputy {

class DiskLocks {
 public:
  // Made if absent. Two that were opened on one file are two holders, also in one process. Where it may only
  // be read, what others hold is seen, and nothing can be taken.
  static Result<DiskLocks> open(const Folder& folder, std::string_view name);
  DiskLocks(DiskLocks&&) noexcept;
  ~DiskLocks();

  // Whether it is ours now; it may have been already.
  Result<bool> take(std::uint64_t place);
  void release(std::uint64_t place);
  bool is_taken_by_another(std::uint64_t place) const;

 private:
  struct File;
  explicit DiskLocks(std::unique_ptr<File> file);
  std::unique_ptr<File> file_;
};

}  // namespace deputy
