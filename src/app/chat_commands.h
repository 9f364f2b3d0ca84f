// What the /commands of the chat show and find. They read; what they lead to is done by chat_run.cc.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/program.h"
#include "runtime/runtime.h"
#include "tui/chat.h"

namespace deputy {

Result<std::vector<Line>> lines_of_command(Program& program, const Runtime& runtime, const ChatState& state,
                                           const DoCommand& command);

// The keys that there are where the chat is shown, and the commands.
std::vector<Line> help_lines(const ChatState& state);
// Those of the settings and flags, and what the person has approved for longer than one call.
std::vector<Line> permission_lines(const std::vector<Rule>& rules, const ChatState& state);

// A word on what becomes of a child, for plain lines, where no tree shows it; nothing of other intents.
std::optional<std::string> acknowledgement_of(const ChatState& state, const Intent& intent);

// The root of the session that was named; without a name the newest other than `current` that nobody has.
Result<Session> root_to_go_on_with(const Store& store, const std::string& typed, const SessionId& current);
// Which one that is, for who named none.
std::string told_of_going_on(const Session& root);
// An earlier session as if its events happened now: what was said goes into the scrollback again.
void fold_history(ChatState& state, const SessionId& root, std::vector<Event> events);

// Names in a folder of the workspace, folders with a slash; none where it cannot be looked at.
std::vector<std::string> entries_of(const Disk& disk, const std::string& workspace,
                                    const std::string& folder);

// With a word on the rehearsal model being none.
std::string for_model_line(const ModelName& model);
// In tokens; 0 where it is not known.
std::int64_t window_of(const Models& models, const ModelName& model);

}  // namespace deputy
