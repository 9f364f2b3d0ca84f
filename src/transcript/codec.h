// The values of transcript/ as JSON and back. Reading is lenient about what is absent and strict about what
// is of the wrong shape: a journal written by an older version reads with defaults, a damaged one is an
// Error.
#pragma once

#include "base/json.h"
#include "base/result.h"
#include "transcript/event.h"

namespace deputy {

json::object to_json(const Usage& usage);
json::object to_json(const Message& message);
json::object to_json(const Reply& reply);
json::object to_json(const FileChange& change);
json::object to_json(const Report& report);
json::object to_json(const Question& question);
json::object to_json(const TreeLimits& limits);
TreeLimits limits_from_json(const json::object& value);
json::object to_json(const Session& session);
json::object to_json(const Wait& wait);
// The word of batches and of progress events, S0's: ok, partial or error; blocked counts as partial,
// cancelled as error.
std::string_view batch_status(Status status);

Result<Usage> usage_from_json(const json::object& value);
Result<Message> message_from_json(const json::object& value);
Result<Reply> reply_from_json(const json::object& value);
FileChange file_change_from_json(const json::object& value);
std::optional<int> exit_status_at(const json::object& value);  // nothing where it is not known
Result<Report> report_from_json(const json::object& value);
Result<Question> question_from_json(const json::object& value);
Result<Session> session_from_json(const json::object& value);
Wait wait_from_json(const json::object& value);

// A message as transcripts show it (S0's fields): role, content, tool_calls, tool_call_id. A tool message
// gives one object a result.
std::vector<json::object> to_transcript_lines(const Message& message);

}  // namespace deputy
