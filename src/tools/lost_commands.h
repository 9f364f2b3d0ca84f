// Commands of which a session's model does not know how they went, since it was stopped while they ran: those
// in the background, and those whose call a run left without a result because its end was recorded for it.
// What they had printed is gone. When the session goes on its model is told how each went, once. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/command_record.h"
#include "transcript/event.h"

namespace deputy {

struct LostCommand {
  CallId call;  // that started it
  std::string command;
  WallTime at = {};  // when it was begun
  bool is_in_background = true;
  bool has_result = true;                         // of its call; otherwise it may never have begun
  std::optional<int> exit_status = std::nullopt;  // where it had ended by itself
};

// Those of which the model is still to be told, by the session's events so far.
std::vector<LostCommand> lost_commands(const std::vector<Event>& events);

// Nothing known of it where there is no record: it had one when it was started. `evidence` is what shows how
// far one came that was in the middle; may be empty.
Nudged told_of(const LostCommand& lost, const std::optional<CommandRecord>& record,
               std::string_view evidence = "");

}  // namespace deputy
