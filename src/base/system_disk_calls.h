// The system calls behind SystemDisk, wrapped so that a descriptor is always closed and a failure names its
// file. For system_disk.cc and system_disk_place.cc alone.
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

enum class Links { follow, refuse };

// These five leave the reason in errno when they fail.
Descriptor open_beneath(int folder, const std::string& name, int flags, mode_t mode = 0,
                        Links links = Links::follow);
// To be read and written; where it may only be read, for that.
Descriptor open_to_write_or_read(int folder, const std::string& name, int flags, mode_t mode);
// What the kernel has in memory, without a step to another file system.
Descriptor open_at_once(int folder, const std::string& name);
bool write_all(int file, std::string_view bytes, std::size_t& written);
bool sync_folder(int folder);

FileStatus status_of(const struct stat& found);

// The Error for the present errno.
std::unexpected<Error> failed(std::string_view verb, std::string_view path);
std::unexpected<Error> not_a_file(EntryKind kind, std::string_view verb, std::string_view path);
// The Error for an open_beneath() that failed.
std::unexpected<Error> not_opened(std::string_view verb, std::string_view path, std::string_view folder);

// Of a file opened for reading that may be anything; only regular files are read.
Result<std::string> read_bytes(int file, std::uint64_t offset, std::size_t max, std::string_view shown);
// The whole of a regular file of about so many bytes, where the kernel has it in memory.
std::optional<std::string> read_at_once(int file, std::size_t size);
// Whether the file system of this folder is one where what is in memory is had without waiting for anybody.
bool is_local(int folder);
Result<std::vector<Entry>> list_entries(Descriptor folder, const std::string& shown);
// The path of what a descriptor stands for, as the kernel knows it now.
Result<std::string> path_of(int descriptor, std::string_view shown);

// Synced and renamed to `leaf`, the folder synced, where it is to be durable. `leaf` must not exist where
// `if_there` says so.
struct NewFile {
  std::string_view bytes;
  mode_t mode = kNewFile;
  bool keeps_mode = false;            // else the umask has its say
  const struct stat* like = nullptr;  // whose owner it gets, where we may give files away
  Durable durable = Durable::yes;
};
enum class IfThere { replace, fail };
Result<void> put_in_place(int parent, const std::string& leaf, const NewFile& file, IfThere if_there,
                          const std::string& shown);

std::unique_ptr<Folder> folder_on(Descriptor descriptor, std::string path);

}  // namespace deputy
