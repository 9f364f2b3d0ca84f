// The system calls behind SystemDisk, wrapped so that a descriptor is always closed and a failure names its
// file. For system_disk.cc alone.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>

#include <string>
#include <string_view>

#include "base/disk.h"

namespace deputy {

inline constexpr mode_t kNewFile = 0600;
inline constexpr mode_t kNewFolder = 0700;
inline constexpr int kFolder = O_PATH | O_DIRECTORY | O_CLOEXEC;
inline constexpr int kReadableFolder = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
inline constexpr int kNeverWait = O_NONBLOCK | O_NOCTTY | O_CLOEXEC;

class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor();
  int get() const { return number_; }
  int release() { return std::exchange(number_, -1); }
  explicit operator bool() const { return number_ >= 0; }

 private:
  int number_;
};

// These three leave the reason in errno when they fail.
Descriptor open_beneath(int folder, const std::string& name, int flags, mode_t mode = 0);
bool write_all(int file, std::string_view bytes, std::size_t& written);
bool sync_folder(int folder);

FileStatus status_of(const struct stat& found);

// The Error for the present errno.
std::unexpected<Error> failed(std::string_view verb, std::string_view path);
std::unexpected<Error> not_a_file(EntryKind kind, std::string_view verb, std::string_view path);

}  // namespace deputy
