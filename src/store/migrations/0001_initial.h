// The journal is the truth; sessions is a view of it, kept in the same transaction so that it can be asked.
#pragma once

#include <string_view>

namespace deputy {

inline constexpr std::string_view k0001Initial = R"sql(
CREATE TABLE trees (
  tree  TEXT PRIMARY KEY,
  epoch INTEGER NOT NULL
) STRICT;

CREATE TABLE journal (
  seq     INTEGER PRIMARY KEY,
  tree    TEXT NOT NULL,
  number  INTEGER NOT NULL,  -- the event's seq within its tree
  epoch   INTEGER NOT NULL,
  session TEXT NOT NULL,
  run     INTEGER NOT NULL,
  step    INTEGER NOT NULL,
  call    INTEGER NOT NULL,
  kind    TEXT NOT NULL,
  at_us   INTEGER NOT NULL,
  body    TEXT NOT NULL,
  crc     INTEGER NOT NULL,
  UNIQUE (tree, number)
) STRICT;

CREATE UNIQUE INDEX journal_call_once ON journal (session, run, step, call, kind) WHERE kind IN ('intent', 'result');
CREATE UNIQUE INDEX journal_end_once ON journal (session, run) WHERE kind = 'ended';
CREATE INDEX journal_of_session ON journal (session, seq);

CREATE TABLE sessions (
  id            TEXT PRIMARY KEY,
  uuid          TEXT NOT NULL,
  tree          TEXT NOT NULL,
  parent        TEXT REFERENCES sessions (id) ON DELETE CASCADE,
  delegation    TEXT UNIQUE,  -- the parent's call and the task in it
  profile       TEXT NOT NULL,
  label         TEXT NOT NULL,
  depth         INTEGER NOT NULL,
  state         TEXT NOT NULL,
  run           INTEGER NOT NULL,
  prompt        TEXT NOT NULL,
  result        TEXT NOT NULL,
  error         TEXT NOT NULL,
  reason        TEXT NOT NULL,
  permissions   TEXT NOT NULL,
  created_us    INTEGER NOT NULL,
  started_us    INTEGER,
  ended_us      INTEGER,
  last_event_us INTEGER NOT NULL,
  last_activity TEXT NOT NULL,
  steps         INTEGER NOT NULL,
  input_tokens  INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  cache_read    INTEGER NOT NULL,
  cache_write   INTEGER NOT NULL,
  cost_micros   INTEGER,
  fixed         TEXT NOT NULL  -- what was settled at creation, as JSON
) STRICT;

CREATE INDEX sessions_of_parent ON sessions (parent);
CREATE INDEX sessions_by_state ON sessions (state);
CREATE INDEX sessions_of_tree ON sessions (tree);
)sql";

}  // namespace deputy
