// What a session waits for, the inbox, and that nothing is delivered twice.
#pragma once

#include <string_view>

namespace deputy {

inline constexpr std::string_view k0002Mail = R"sql(
ALTER TABLE sessions ADD COLUMN wait TEXT;  -- as JSON

CREATE TABLE inbox (
  id      INTEGER PRIMARY KEY AUTOINCREMENT,
  tree    TEXT NOT NULL,
  session TEXT NOT NULL,
  kind    TEXT NOT NULL,
  text    TEXT NOT NULL
) STRICT;

CREATE INDEX inbox_of_tree ON inbox (tree, id);

CREATE UNIQUE INDEX journal_delivered_once ON journal (session, json_extract(body, '$.item')) WHERE kind = 'delivered';
)sql";

}  // namespace deputy
