// Sessions by their state, where that is one that stays: each step wrote the index anew for a session that
// runs before it and after it.
#pragma once

#include <string_view>

namespace deputy {

inline constexpr std::string_view k0008StatesAtRest = R"sql(
DROP INDEX sessions_by_state;
CREATE INDEX sessions_by_state ON sessions (state)
  WHERE state<>'running' AND state<>'waiting' AND state<>'pending';
)sql";

}  // namespace deputy
