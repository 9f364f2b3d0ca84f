// A script as values, and the one reader of its JSON. Reading is pure and strict: an unknown key is an Error
// that says where it stands and which key was probably meant, so that a typing mistake cannot quietly change
// what a test tests.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "transcript/message.h"
#include "transcript/reply.h"
#include "transcript/usage.h"

namespace deputy {

struct ScriptedError {
  ReplyStop stop = ReplyStop::failed;
  std::string message;
};

struct ScriptedReply {
  std::optional<std::string> expected;  // must stand in what came after the last reply
  std::string text;
  std::vector<Call> calls;  // an empty id is filled in by step and index
  std::optional<Usage> usage;
  Duration first_byte{};
  std::optional<ScriptedError> error;
};

struct ScriptedSession {
  // What is absent fits everything.
  std::optional<std::string> label;
  std::optional<std::string> agent;
  std::optional<int> depth;
  std::vector<ScriptedReply> replies;
};

struct Script {
  std::vector<ScriptedSession> sessions;
  std::string log;  // a path; empty where nothing is to be logged
};

Result<Script> parse_script(std::string_view text);

// The first that fits, as an index; nothing where none does.
std::optional<std::size_t> session_for(const Script& script, std::string_view label, std::string_view agent,
                                       int depth);

}  // namespace deputy
