// Nobody looks sessions up by their state, and each step wrote that index anew.
#pragma once

#include <string_view>

namespace deputy {

inline constexpr std::string_view k0008FewerIndexes = R"sql(
DROP INDEX sessions_by_state;
)sql";

}  // namespace deputy
