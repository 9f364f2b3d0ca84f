// A run as a fold over its events: what was said, which calls still want a result, what it has noted and
// used. The live loop and a resume build it by the same function, so a resumed run stands where the
// interrupted one stood.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "model/provider.h"
#include "tools/toolbox.h"
#include "transcript/event.h"
#include "transcript/message.h"
#include "transcript/reply.h"

namespace deputy {

struct Conversation {
  std::vector<Message> messages;
  std::vector<PendingCall> pending;  // calls of the last reply without a result
  std::vector<ToolResult> results;   // those of its calls that have one, by call index
  std::optional<Reply> last_reply;   // of this run
  int step = 0;                      // replies so far; the next one has this number
  int run_steps = 0;                 // replies of this run
  Usage usage;
  std::optional<Measured> measured;  // the last reply's word on how much its request held
  std::vector<std::string> notes;
  FilesSeen files_seen;
  // A child that went on beside the session: what of it is still to be put before the model.
  struct Beside {
    int run = 1;
    bool owed = true;  // its report
  };
  std::map<SessionId, Beside> beside;
  std::vector<Nudged> unread;
  std::set<std::string> delivered;  // items, see transcript/mail.h
  int questions = 0;
  std::optional<WallTime> started_at;
  std::optional<Report> ended;  // the terminal record, once there is one
};

void apply(Conversation& conversation, const Event& event);
Conversation conversation_of(const std::vector<Event>& events);

}  // namespace deputy
