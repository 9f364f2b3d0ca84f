// What proves that a row is whole and that none is missing, and who holds a tree. Rows of before prove less:
// their nth is 0, their crc of a session or letter is NULL.
#pragma once

#include <string_view>

namespace deputy {

inline constexpr std::string_view k0003Proof = R"sql(
ALTER TABLE trees ADD COLUMN holder TEXT NOT NULL DEFAULT '';     -- in words; whether it is held the kernel knows
ALTER TABLE journal ADD COLUMN nth INTEGER NOT NULL DEFAULT 0;    -- among the records of its session, from 1
ALTER TABLE sessions ADD COLUMN events INTEGER NOT NULL DEFAULT 0;  -- how many records it has
ALTER TABLE sessions ADD COLUMN crc INTEGER;
ALTER TABLE inbox ADD COLUMN crc INTEGER;
)sql";

}  // namespace deputy
