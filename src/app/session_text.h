// Sessions as people read them: a list, one in detail, a tree; and the same as JSON. Pure; nothing in the
// text can move the cursor or hide.
#pragma once

#include <string>
#include <vector>

#include "app/looks.h"
#include "base/json.h"
#include "transcript/resources.h"
#include "transcript/session.h"

namespace deputy {

// A root and all sessions of its tree, itself among them.
struct ListedTree {
  Session root;
  std::vector<Session> sessions;
};

// The roots; below each who of its tree has not ended, and whose id `task` gave out.
std::string list_text(const std::vector<ListedTree>& trees, const Style& style,
                      std::size_t width = kAnyWidth);

// Each with the deadline that ends it: its own, or that of a session above it, if that comes first. One above
// that is over and has not ended its session is not in force: the tree runs under other terms, or its time
// stands still.
std::vector<Session> with_nearest_deadlines(std::vector<Session> sessions, WallTime now);

// The registry: every session that has not ended, and since when nothing was heard of it.
std::string live_text(const std::vector<Session>& sessions, WallTime now, const Style& style,
                      std::size_t width = kAnyWidth);
json::object to_live_json(const Session& session, WallTime now);

// What it used and all below it did. Computed anew each time, so nothing is counted twice.
Usage usage_with_children(const Session& session, const std::vector<Session>& sessions);

// `sessions` are the whole tree; the file is where its transcript lies.
std::string details_text(const Session& session, const std::vector<Session>& sessions, WallTime now,
                         const std::string& file, const Resources& resources = {});

// From `root` down.
std::string tree_text(const Session& root, const std::vector<Session>& sessions, WallTime now,
                      const Style& style, const std::map<SessionId, Resources>& resources = {},
                      std::size_t width = kAnyWidth);

// Children in the order in which their parent asked for them.
std::vector<Session> children_of(const SessionId& parent, const std::vector<Session>& sessions);

json::object to_full_json(const Session& session);

// The beginning of what it was asked to do; of a command, what was typed.
std::string goal_of(const Session& session, std::size_t characters);

}  // namespace deputy
