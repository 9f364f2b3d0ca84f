// The folders whose agents the person has looked at and wants to use. Kept in the state folder, which no tool
// sees; a folder is trusted by its own path alone, not by one above it.
#pragma once

#include <string_view>

#include "base/disk.h"
#include "base/result.h"

namespace deputy {

Result<bool> is_trusted(const Folder& home, std::string_view folder);
enum class Trust { given, withdrawn };
Result<void> set_trust(const Folder& home, std::string_view folder, Trust trust);

}  // namespace deputy
