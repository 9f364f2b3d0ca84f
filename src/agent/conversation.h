// A run as a fold over its events: what was said, which calls still want a result, what it has noted, used
// and changed, how it was warned and what it reported. The live loop and a resume build it by the same
// function, so a resumed run stands where the interrupted one stood.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "agent/completion.h"
#include "base/boxed.h"
#include "model/provider.h"
#include "tools/toolbox.h"
#include "transcript/event.h"
#include "transcript/report.h"

namespace deputy {

// A limit was reached, and the run was told that one step is left to report in.
struct Grace {
  Reason reason = Reason::none;  // the limit
  std::string why = {};          // what the provider said of it, where it was the one to say so
  bool used = false;             // the step was taken
};

// The same call with the same arguments and the same result, one after the other.
struct Repetition {
  std::array<std::size_t, 3> of{};  // digests of what they have in common: tool, arguments, result
  int streak = 0;
  int peak = 0;  // the longest streak of the last step, until the run was told of it
};

// What was wrong with the reports that it tried.
struct RefusedReports {
  int count = 0;
  std::string last;  // as it was given
  std::string why;
};

// Who gave no approval: nobody was there, the person declined, or the profile has nobody asked.
enum class Denial { by_nobody, by_person, by_profile };

// A report that it handed in before something came in that it has to go on with.
struct FormerReport {
  Completion report;
  std::size_t before = 0;  // where in the messages it went on
};

// How often a model's provider said that it does not fit: of the conversation, and of each request to sum it
// up. Another model may have more room.
struct Refusals {
  ModelName model = {};
  int count = 0;
};

// What a compaction put aside, to be taken back when it is undone.
struct PutAside {
  std::size_t told_from = 0;
  std::optional<Measured> measured = {};
};

struct Conversation {
  std::vector<Message> messages;
  std::size_t told_from = 0;  // where in them requests begin: at a summary, once it was compacted
  std::vector<PutAside> compactions;
  bool stays_whole = false;         // a compaction was undone: there is none again but by the person's wish
  bool has_no_summary = false;      // the model gave none, this run
  std::optional<int> compacted_at;  // the step that the last summary was made for
  Refusals refusals;
  RunTask task = RunTask::reply;     // of this run
  std::set<std::size_t> broken_off;  // where in them are replies of this run that were not ended
  std::set<std::size_t> paused;      // and those of it that go on in the next one
  std::vector<Message> held;         // what came in while calls were without a result: it follows these
  std::vector<PendingCall> pending;  // calls of the last reply without a result
  std::vector<ToolResult> results;   // those of its calls that have one, by call index
  std::optional<Reply> last_reply;   // of this run
  bool has_news = false;             // something has come in since
  std::size_t run_begins = 0;        // in the messages
  int step = 0;                      // replies so far; the next one has this number
  int run_steps = 0;                 // replies of this run
  bool asked = false;                // this run: what a request may come to, or came to, is on record
  int pauses = 0;                    // replies in a row, up to the last, that the provider paused in
  Usage usage;
  std::optional<Measured> measured;  // the last reply's word on how much its request held
  std::vector<std::string> notes;
  FilesSeen files_seen;
  std::vector<FileChange> files;  // changed, each as it was at first and is now
  std::vector<CommandRun> commands;
  std::map<std::pair<int, int>, std::size_t> command_of;  // by step and call
  std::map<RunId, bool> beside;  // runs of children that went on beside it: whether their report is owed
  std::vector<Nudged> unread;
  std::set<std::string> delivered;  // items, see transcript/mail.h
  int questions = 0;
  std::optional<Denial> denied;  // of the last call that needed approval and got none
  bool went_without = false;     // an answer to a question of its own
  std::optional<Completion> completion;
  std::optional<Boxed<FormerReport>> former_report;  // of this run
  RefusedReports refused;
  Repetition repetition;
  std::optional<Grace> grace;
  std::optional<WallTime> started_at;
  std::optional<Boxed<Report>> ended;  // the terminal record, once there is one
};

// What a request tells of it.
std::span<const Message> told(const Conversation& conversation);
// Up to where a summary could stand for the messages: all but what the model has yet to reply to. Nothing
// where there is nothing to sum up.
std::optional<std::size_t> compactable(const Conversation& conversation);
// Whether the last reply of this run was that it does not fit the window.
bool is_full(const Conversation& conversation);

void apply(Conversation& conversation, const Event& event);
Conversation conversation_of(const std::vector<Event>& events);

}  // namespace deputy
