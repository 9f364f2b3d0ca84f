#include "base/disk_watch.h"

#include <sys/inotify.h>
#include <unistd.h>

#include <array>

namespace deputy {

std::unique_ptr<DiskWatch> DiskWatch::on(const std::string& folder) {
  const int descriptor = ::inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
  if (descriptor < 0) return nullptr;
  std::unique_ptr<DiskWatch> watch(new DiskWatch(descriptor));
  if (::inotify_add_watch(descriptor, folder.c_str(), IN_MODIFY | IN_ONLYDIR) < 0) return nullptr;
  return watch;
}

DiskWatch::~DiskWatch() { ::close(descriptor_); }

void DiskWatch::forget() const {
  std::array<char, 4096> events;
  while (::read(descriptor_, events.data(), events.size()) > 0) {
  }
}

}  // namespace deputy
