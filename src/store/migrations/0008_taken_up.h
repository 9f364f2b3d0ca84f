// That a tree was taken up, and under which limits, is in the journal from here on: whoever does not know
// those records must not take them for damage.
#pragma once

#include <string_view>

namespace deputy {

inline constexpr std::string_view k0008TakenUp = R"sql(
-- the tables stay as they are
)sql";

}  // namespace deputy
