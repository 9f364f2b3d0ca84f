// What happened, as immutable facts in the past tense. The journal is their durable order; every other view
// (a session's row, a conversation, a transcript, the lines a surface prints) is computed from them. A Fact
// says what, an Event where and when.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/boxed.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/result.h"
#include "transcript/ids.h"
#include "transcript/question.h"
#include "transcript/reply.h"
#include "transcript/report.h"
#include "transcript/session.h"

namespace deputy {

struct SessionCreated {
  Boxed<Session> session;  // as it was at that moment
};
// What a run is for: to reply to what came in, or to see to the session's own history, without an input.
enum class RunTask { reply, compact, undo_compaction };
std::string_view name_of(RunTask task);

struct RunStarted {
  int index = 0;  // which of its batch
  int total = 1;
  // Of this run, where it is not the session's first and they are not the session's own.
  std::optional<WallTime> deadline = {};
  ModelName model = {};
  std::optional<int> max_turns = {};
  RunTask task = RunTask::reply;
  std::optional<TreeLimits> limits = {};  // of the tree, as long as the program runs it
};
struct InputGiven {
  Source source = Source::person;
  std::string text;
  // What the runtime speaks about: a limit that leaves one grace step, a report that will not do, going round
  // in circles. None where it only hands something on.
  Reason about = Reason::none;
};
struct ReplyReceived {
  Reply reply;
};
struct CallStarted {  // the intent: durable before the effect
  std::string tool;
  std::string shown;                      // the arguments in short, for people
  std::optional<FileChange> change = {};  // what it is about to do to a file
};
struct CallFinished {
  ToolResult result;
};
struct NoteTaken {
  std::string content;
};
struct QuestionAsked {
  Question question;
};
struct QuestionAnswered {
  std::string question_id;
  Answer answer;
};
struct FileTouched {  // by a call: read, where nothing changed, else written
  FileChange file;
};
struct Retried {  // an attempt at a request that failed; it is made again, unless it is the last
  std::string reason;
  int attempt = 1;       // that failed, from 1
  Duration wait{};       // until the next one
  Usage usage = {};      // of what failed
  bool is_last = false;  // it is not made again: there is no room for that in the budget
};
// What a request may come to at most: durable before it is made. Whatever follows says what it did come to;
// where a process died before that, all of it counts as used.
struct BudgetReserved {
  std::int64_t tokens = 0;
  std::int64_t cost_micros = 0;
};
struct RequestStopped {   // before its reply
  Usage usage;            // what it had come to by then
  std::string text = {};  // what the model had said by then, where the run does not ask for it again
};
// The model was asked to sum up what was said: from here on requests begin with its summary in place of the
// first messages. They stay in the journal, so it can be undone.
struct Compacted {
  Reply reply;
  std::size_t messages = 0;  // of the conversation that the summary stands for
};
// What the reply says of the conversation; nothing where it came to no end: then the history stays as it is.
std::optional<std::string_view> summary_in(const Reply& reply);
std::string why_no_summary(const Reply& reply);
// How the model is asked for one.
Message wish_for_summary();
// What the model is told in place of what the summary stands for.
Message summary_message(std::string_view summary);
// The summary that such a message tells.
std::optional<std::string_view> summary_told_by(const Message& message);
struct CommandEnded {  // of one that went on in the background, by itself
  int exit_status = 0;
};
struct DeadlineMoved {  // it had stood still
  WallTime deadline{};
};
struct StateChanged {
  SessionState state = SessionState::running;
  std::string why;
  std::string waits_for = {};          // see Wait
  std::optional<WallTime> until = {};  // when the wait ends at the latest
};
struct ProcessEnded {  // that a call had started, and all that it had started in turn
  std::string program;
  Duration cpu{};           // of all together
  std::int64_t memory = 0;  // bytes: the most that one of them had at once
};
struct Nudged {  // a message was taken in for the session, which reads it between two steps
  std::string id;
  Source source = Source::person;
  std::string text;
};
struct Delivered {   // something that had come in was put before the session's model: each item once
  std::string item;  // see mail.h
  Source source = Source::runtime;
  std::string text;
};
struct Detached {  // a child goes on beside the session: what it has to say comes by mail
  SessionId child;
  int run = 1;
  std::string question_id = {};  // the call ended with this question, where it did
};
struct Attached {  // a call waits for this run of a child, and hands out what it says
  SessionId child;
  int run = 1;
};
struct RunEnded {  // the one terminal record of a run
  Boxed<Report> report;
};
// A piece of a reply that is still under way: it was heard by the time that something else was recorded. For
// people alone: who goes on with the run asks for the whole again.
struct ReplyHeard {
  bool is_first = true;  // of a reply: what was heard of another before it does not count any more
  std::string text;
};

struct TakenUp {  // a tree that another program had left unfinished: this one goes on with it
  std::optional<TreeLimits> limits = {};  // where they are not those of its start
};

// The first is what a fact is before it has been said: one that needs no memory.
using Fact = std::variant<RunStarted, SessionCreated, InputGiven, ReplyReceived, CallStarted, CallFinished,
                          NoteTaken, QuestionAsked, QuestionAnswered, Retried, StateChanged, RunEnded,
                          FileTouched, BudgetReserved, RequestStopped, DeadlineMoved, Nudged, Delivered,
                          Detached, Attached, ProcessEnded, CommandEnded, Compacted, ReplyHeard, TakenUp>;

struct Event {
  std::uint64_t seq = 0;  // per tree, from 1
  WallTime at{};
  SessionId tree;
  RunId run;
  int step = 0;
  int call = -1;  // -1: not about a call
  Fact fact;
};

// The journal's word for a fact: "reply", "intent", "result" …
std::string_view kind_of(const Fact& fact);
// The body of a journal record, with its version, and back.
json::object fact_to_json(const Fact& fact);
Result<Fact> fact_from_json(std::string_view kind, const json::object& body);

// The JSON lines that surfaces print for an event (delegation.md, "Events"); several may come from one fact
// and share its seq.
struct EventOrigin {
  SessionId parent;  // empty at the root
  std::string label;
  std::string agent;
};
std::vector<json::object> to_lines(const Event& event, const EventOrigin& origin);

}  // namespace deputy
