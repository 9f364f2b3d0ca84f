// The inbox as rows.
#pragma once

#include "store/letter.h"
#include "store/sqlite/database.h"

namespace deputy {

inline constexpr std::string_view kLettersOfTree =
    "SELECT id, tree, session, kind, text, crc, question FROM inbox WHERE tree=? ORDER BY id";

Result<Letter> letter_of_row(const Statement& row);  // selected as kLettersOfTree
Result<std::int64_t> post_letter(const Database& database, const Letter& letter);
Result<void> discard_letter(const Database& database, std::int64_t letter);

}  // namespace deputy
