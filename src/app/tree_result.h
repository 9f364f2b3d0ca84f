// What a finished tree means to the person who ran the command: the text for stdout, the exit status, and
// what else there is to say. A batch is counted by its children, any other run by its root's report. Pure,
// but for printing.
#pragma once

#include <optional>
#include <string>

#include "app/program.h"
#include "app/tree_run.h"
#include "base/json.h"

namespace deputy {

struct TreeResult {
  ExitStatus status = ExitStatus::failed;
  std::string text;      // the result itself
  bool is_json = false;  // whether the text is JSON that `--output json` takes in as it is
  std::string problem;   // why it is not the whole result; empty when it is
  std::string advice;
  SessionId session;
  Usage usage;  // of the whole tree
  Duration duration{};
  Reason reason = Reason::none;
  json::object
      evidence;  // of the root's report: errors, files, commands …; what there is none of is left out
  std::vector<Question> unapproved;  // calls that were not made: nobody was there to approve them
};

TreeResult result_of(const TreeEnd& end);

// That calls were not made for want of approval, and what approves them; nothing where all were.
std::optional<Error> told_of_unapproved(const std::vector<Question>& unapproved);

// The one document of `--output json`.
json::object to_json(const TreeResult& result);

// Writes it in the form that was asked for, and yields what to tell the shell.
Ended print_result(Program& program, TreeResult result);

}  // namespace deputy
