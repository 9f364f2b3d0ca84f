// Commands that ran in the background of a session when it was stopped: they ended with it, and what they had
// printed is gone. When the session goes on its model is told how each went, once. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/command_record.h"
#include "transcript/event.h"

namespace deputy {

struct LostCommand {
  CallId call;  // that started it
  std::string command;
};

// Those of which the model is still to be told, by the session's events so far.
std::vector<LostCommand> lost_commands(const std::vector<Event>& events);

// Nothing known of it where there is no record.
Nudged told_of(const LostCommand& lost, const std::optional<CommandRecord>& record);

}  // namespace deputy
