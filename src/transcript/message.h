// One message of a conversation, in the form the runtime thinks in; providers translate at the last moment.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace deputy {

enum class Role { user, assistant, tool };

// Who a user message comes from. Text from an agent never counts as a person's.
enum class Source { person, parent, child, runtime };

struct Call {
  std::string id;  // the provider's own
  std::string name;
  std::string arguments;  // JSON text as the model wrote it
  bool operator==(const Call&) const = default;
};

enum class ToolStatus { ok, error };

struct ToolResult {
  std::string call_id;
  ToolStatus status = ToolStatus::ok;
  std::string content;
  std::string name = {};                // of the tool, where a conversation says whose result it is
  std::optional<int> exit_status = {};  // of a command that came to its end
  bool operator==(const ToolResult&) const = default;
};

struct Message {
  Role role = Role::user;
  Source source = Source::person;
  std::string text;
  std::string thinking;
  std::vector<Call> calls;          // of an assistant
  std::vector<ToolResult> results;  // of a tool message, in call order
  std::string wire;  // an assistant turn in its provider's own form, carried back unchanged; may be empty
  bool operator==(const Message&) const = default;
};

std::string_view name_of(Role role);
std::string_view name_of(Source source);

}  // namespace deputy
