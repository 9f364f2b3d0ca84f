// What was found out about this machine's sandbox, kept in the state folder, so that the next start need not
// try it out again. It counts only on the same boot, for the same user and programs, and under the same
// settings of the kernel; and only a sandbox that isolates is remembered, so that what is mended is noticed
// at once. Nothing rests on its being true: a process that is not confined as it must be is not started, and
// `deputy doctor` tries anew.
#pragma once

#include <optional>
#include <string>

#include "base/disk.h"
#include "sandbox/processes.h"

namespace deputy {

class SandboxMemory {
 public:
  SandboxMemory(const Disk& disk, std::shared_ptr<const Folder> home, std::string_view init_path);

  std::optional<Capability> recall() const;
  // One that does not isolate is not kept, and ends what was kept under the same circumstances: that was
  // wrong.
  void keep(const Capability& capability) const;

 private:
  std::shared_ptr<const Folder> home_;  // may be null: then nothing is remembered
  std::string key_;
};

// What the memory is worth nothing without, on one line; pure but for reading.
std::string sandbox_key(const Disk& disk, std::string_view init_path);

}  // namespace deputy
