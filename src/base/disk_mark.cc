#include "base/disk_mark.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <charconv>

#include "base/system_disk_calls.h"
#include "base/text.h"

namespace deputy {
namespace {

// "{number} {its checksum}\n", of fixed length.
std::string text_of(std::uint64_t number) {
  const std::string digits = fmt::format("{:020}", number);
  return fmt::format("{} {:08x}\n", digits, crc32(digits));
}

}  // namespace

struct DiskMark::File {
  Descriptor descriptor;
  bool can_be_written;
};

DiskMark::DiskMark(std::unique_ptr<File> file) : file_(std::move(file)) {}
DiskMark::DiskMark(DiskMark&&) noexcept = default;
DiskMark::~DiskMark() = default;

Result<DiskMark> DiskMark::open(const Folder& folder, std::string_view name, IfAbsent if_absent) {
  const bool is_made = if_absent == IfAbsent::create;
  Descriptor file = open_to_write_or_read(folder.descriptor(), std::string(name),
                                          kNeverWait | (is_made ? O_CREAT : 0), is_made ? kNewFile : 0);
  if (!file) return failed("open", join_path(folder.path(), name));
  const bool is_to_write = (::fcntl(file.get(), F_GETFL) & O_ACCMODE) == O_RDWR;
  const bool can_make_others = ::faccessat(folder.descriptor(), ".", W_OK, AT_EACCESS) == 0;
  return DiskMark(std::make_unique<File>(std::move(file), is_to_write && can_make_others));
}

bool DiskMark::can_be_written() const { return file_->can_be_written; }

std::optional<std::uint64_t> DiskMark::read() const {
  std::string text = text_of(0);
  if (::pread(file_->descriptor.get(), text.data(), text.size(), 0) != static_cast<ssize_t>(text.size()))
    return std::nullopt;
  std::uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return text_of(number) == text ? std::optional(number) : std::nullopt;
}

void DiskMark::write(std::uint64_t number) {
  const std::string text = text_of(number);
  (void)!::pwrite(file_->descriptor.get(), text.data(), text.size(), 0);
}

void DiskMark::raise(std::uint64_t number) {
  // Who holds it has two calls to make; one that was stopped in between must not stop us.
  constexpr int kMostTries = 1000;
  struct flock whole{};
  whole.l_type = F_WRLCK;
  const int file = file_->descriptor.get();
  for (int tries = 0; ::fcntl(file, F_OFD_SETLK, &whole) != 0; ++tries) {
    if (tries == kMostTries) return;
  }
  if (read().value_or(0) < number) write(number);
  whole.l_type = F_UNLCK;
  (void)::fcntl(file, F_OFD_SETLK, &whole);
}

}  // namespace deputy
