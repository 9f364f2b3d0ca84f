// The folders that a process is given, opened once: from here on they are descriptors, and their paths say
// only where they stand.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sandbox/owned_fd.h"
#include "sandbox/processes.h"

namespace deputy {

struct GrantedFolder {
  OwnedFd descriptor;  // O_PATH
  std::string path;    // absolute, without links
  std::string given;   // the path by which it was granted
  Access access = Access::read;
};

// The folder of `spec` first, if it has one, then its roots. A root that contains the folder or lies in it
// gives no more than the folder does.
Result<std::vector<GrantedFolder>> open_grants(const ProcessSpec& spec);

// Whether `path` is `folder` or lies in it, going by the names alone.
bool is_within(std::string_view path, std::string_view folder);

}  // namespace deputy
