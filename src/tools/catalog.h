// The tools that come with deputy, except those of delegation.
#pragma once

#include <memory>
#include <vector>

#include "tools/tool.h"

namespace deputy {

std::vector<std::shared_ptr<Tool>> builtin_tools();

}  // namespace deputy
