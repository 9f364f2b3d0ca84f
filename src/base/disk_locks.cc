#include "base/disk_locks.h"

#include <cerrno>
#include <limits>

#include "base/system_disk_calls.h"

namespace deputy {
namespace {

struct flock lock_of(std::uint64_t place, short type) {
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<off_t>::max());
  struct flock lock{};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = static_cast<off_t>(place % kMost);
  lock.l_len = 1;
  return lock;
}

}  // namespace

struct DiskLocks::File {
  Descriptor descriptor;
  std::string shown;
};

DiskLocks::DiskLocks(std::unique_ptr<File> file) : file_(std::move(file)) {}
DiskLocks::DiskLocks(DiskLocks&&) noexcept = default;
DiskLocks::~DiskLocks() = default;

Result<DiskLocks> DiskLocks::open(const Folder& folder, std::string_view name) {
  const std::string shown = join_path(folder.path(), name);
  Descriptor file =
      open_to_write_or_read(folder.descriptor(), std::string(name), O_CREAT | kNeverWait, kNewFile);
  if (!file) return failed("open", shown);
  return DiskLocks(std::make_unique<File>(std::move(file), shown));
}

Result<bool> DiskLocks::take(std::uint64_t place) {
  auto lock = lock_of(place, F_WRLCK);
  if (::fcntl(file_->descriptor.get(), F_OFD_SETLK, &lock) == 0) return true;
  if (errno == EAGAIN || errno == EACCES) return false;
  return failed("lock", file_->shown);
}

void DiskLocks::release(std::uint64_t place) {
  auto lock = lock_of(place, F_UNLCK);
  (void)::fcntl(file_->descriptor.get(), F_OFD_SETLK, &lock);
}

bool DiskLocks::is_taken_by_another(std::uint64_t place) const {
  auto lock = lock_of(place, F_WRLCK);
  return ::fcntl(file_->descriptor.get(), F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

}  // namespace deputy
