// What of its workspace a session may write and see by its mode, whatever permission rules say. Names are
// those of a Target: relative to the workspace, absolute in another root. Pure; all of it is decided from
// what the runtime knows of the session.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "transcript/session.h"

namespace deputy {

// ".deputy/subagents/agent_{id}", where a session in scratch mode writes.
std::string scratch_folder(const SessionId& id);

// Why the session may not write `name`, for the model; nothing where it may.
std::optional<std::string> refusal_to_write(const Session& session, std::string_view name);

// Scratch folders are seen by their own session, its parent (who knows its `children`) and the root.
bool is_hidden_scratch(const Session& session, std::span<const SessionId> children, std::string_view name);

// Whether `name` lies in one of the `hidden` folders, which are absolute.
bool is_hidden_state(const Session& session, std::span<const std::string> hidden, std::string_view name);

}  // namespace deputy
