// The names of tools. Models and profiles of other programs spell them in many ways; rules and grants know
// one spelling only. Nothing here grants anything: a name that a model sends in a call is never mapped.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace deputy {

// "read_file", "view", "READ" → "Read"; a name that nobody knows comes back as it is.
std::string canonical_tool_name(std::string_view name);

// Whether it is the canonical name of a tool of ours, or has the form of one of an MCP server
// (mcp__server__tool).
bool is_tool_name(std::string_view canonical_name);

// Every tool of ours by its canonical name, in the order in which they are presented to people.
std::vector<std::string> tool_names();

}  // namespace deputy
