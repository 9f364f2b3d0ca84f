// Names looked up beneath a descriptor of the system, for system_disk.cc.
#pragma once

#include <memory>
#include <string>

#include "base/disk.h"

namespace deputy {

// `name` is clean and relative to the folder that `root` stands for; `root_path` is for messages.
Result<std::unique_ptr<Place>> place_beneath(int root, const std::string& root_path, const std::string& name);
// The same where the kernel has it in memory, on a local file system; else nothing.
std::unique_ptr<Place> place_beneath_at_once(int root, const std::string& root_path, const std::string& name);

}  // namespace deputy
