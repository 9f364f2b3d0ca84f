// One number in a file, written over in place and not synced: cheap enough for every step. After a crash it
// may be an older one.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "base/disk.h"

namespace deputy {

class DiskMark {
 public:
  // Where it may only be read, that is what it is opened for.
  static Result<DiskMark> open(const Folder& folder, std::string_view name,
                               IfAbsent if_absent = IfAbsent::create);
  DiskMark(DiskMark&&) noexcept;
  ~DiskMark();

  bool can_be_written() const;  // and other files made beside it
  // Nothing where none was written, or what is there is not whole.
  std::optional<std::uint64_t> read() const;
  // What cannot be written is left out.
  void write(std::uint64_t number);
  // Unless there is a greater one: other processes raise it too.
  void raise(std::uint64_t number);

 private:
  struct File;
  explicit DiskMark(std::unique_ptr<File> file);
  std::unique_ptr<File> file_;
};

}  // namespace deputy
