// How opencode names tools: its own words for them, and patterns of names.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace deputy::opencode {

// `*` stands for any run of characters, `?` for one.
bool fits(std::string_view pattern, std::string_view name);
inline bool is_pattern(std::string_view key) { return key.find_first_of("*?") != std::string_view::npos; }

// Their own word for what a tool of ours does. Nothing of theirs speaks of Note and of the tools that the
// runtime gives.
inline constexpr auto kTheirWords =
    std::to_array<std::pair<std::string_view, std::string_view>>({{"Read", "read"},
                                                                  {"Grep", "grep"},
                                                                  {"Glob", "glob"},
                                                                  {"List", "list"},
                                                                  {"Edit", "edit"},
                                                                  {"Write", "edit"},
                                                                  {"NotebookEdit", "edit"},
                                                                  {"Bash", "bash"},
                                                                  {"WebFetch", "webfetch"},
                                                                  {"WebSearch", "websearch"},
                                                                  {"Todo", "todowrite"},
                                                                  {"task", "task"}});

// Whether a key fits some word of theirs.
bool is_their_word(std::string_view key);
// The tools here that a key names, by any of their names or by a pattern: edit is every change of a file.
std::vector<std::string> tools_named(std::string_view key);
// They call the tool of a server server_tool; one of these that is nearly a tool of ours is a slip.
bool can_be_of_a_server(std::string_view key);

}  // namespace deputy::opencode
