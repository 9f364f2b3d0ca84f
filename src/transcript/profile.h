// What kind of agent a session is: instructions, tools, permissions and scalar defaults. Immutable once
// loaded. An absent scalar is inherited.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "transcript/ids.h"
#include "transcript/session.h"

namespace deputy {

// Stands for what a person typed as a command.
inline constexpr std::string_view kCommandAgent = "command";

// Rules as they are written: "Bash(git status:*)".
struct Permissions {
  std::vector<std::string> allow;
  std::vector<std::string> ask;
  std::vector<std::string> deny;
  bool empty() const { return allow.empty() && ask.empty() && deny.empty(); }
};

enum class OnAsk { person, deny };    // who decides what the rules leave open
enum class Returns { text, report };  // whether its last text will do, or it must call task_completion

// A time limit that says "none", where an absent one is inherited.
inline constexpr Duration kNoTimeout = Duration::max();

struct Profile {
  std::string name;
  std::string description;
  std::string instructions;
  std::vector<std::string> tools;
  std::vector<std::string> subagents;  // the profiles it may delegate to; "*" is all that are offered
  std::optional<ModelName> model;
  std::optional<int> max_turns;
  std::optional<int> max_output_tokens;
  std::optional<WorkKind> kind;
  std::optional<Duration> timeout;  // in place of its kind's; kNoTimeout for none
  std::optional<int> max_context_tokens;
  std::optional<int> max_messages;
  std::optional<bool>
      compact;  // whether a long conversation is summed up; absent: a root's is, a child's not
  Returns returns = Returns::text;
  std::string output_schema;  // JSON Schema of what it returns; empty where any text will do
  Permissions permissions = {};
  OnAsk on_ask = OnAsk::person;
  WorkspaceMode workspace = WorkspaceMode::shared;
  bool network = false;  // for its commands, where the parent has it too
  std::string
      driver;  // the provider that plays the profile in place of its model; empty for all but commands
  bool hidden = false;           // not offered to models
  bool web_is_approved = false;  // by the approval of the batch that it is made for
  bool reentrant = false;        // may stand twice on one path
};

}  // namespace deputy
