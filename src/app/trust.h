// The folders whose agents the person has looked at and wants to use. Kept in the state folder, which no tool
// sees; a folder is trusted by its own path alone, not by one above it.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "async/loop.h"
#include "async/task.h"
#include "base/disk.h"
#include "base/result.h"

namespace deputy {

Result<bool> is_trusted(const Folder& home, std::string_view folder);
enum class Trust { given, withdrawn };
// Takes its turn (turn.h) with who does the same at the same time.
Task<Result<void>> set_trust(Loop& loop, std::shared_ptr<const Folder> home, std::string folder, Trust trust);

}  // namespace deputy
