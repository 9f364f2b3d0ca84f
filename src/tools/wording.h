// Small words that several tools say to the model.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "base/text.h"

namespace deputy {

// "1 file", "1,204 files".
inline std::string counted(std::uint64_t number, std::string_view thing) {
  return fmt::format("{} {}{}", with_thousands(number), thing, number == 1 ? "" : "s");
}

}  // namespace deputy
