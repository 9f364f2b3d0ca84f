// What the calls task, spawn_subagent and answer_subagent have in common: each waits for a child until it has
// ended or asks, and tells the model which.
#pragma once

#include <optional>
#include <string>

#include "delegation/tree.h"
#include "tools/tool.h"

namespace deputy {

// A child's report as the result of the call that waited for it, and the error of one that came to no report.
// `dialogue` adds how long it took and how much it asked.
enum class Telling { plain, dialogue };
Task<ToolResult> result_of(Tree& tree, SessionId reader, Report report, Telling telling);
Task<ToolResult> refusal_result(Tree& tree, Delegation delegation, Error error);
// The same for a child that would be refused now, before anybody is asked; nothing where it would not.
Task<std::optional<ToolResult>> refusal_beforehand(Tree& tree, Delegation delegation);

// What it refers to is its caller's, and stays there until it is over: while it waits it holds little.
Task<ToolResult> await_child(Tree& tree, const Delegation* delegation, SessionId child, ToolContext& context,
                             Telling telling);

// For a child that goes on beside its parent from the start.
ToolResult leave_beside(const SessionId& child, int run, std::string_view agent, std::string_view description,
                        ToolContext& context);

}  // namespace deputy
