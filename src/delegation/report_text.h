// A report as its readers see it: the parent's model, and the person. Pure. How much of a long one is shown
// is the caller's to say, and where the whole of it lies.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "transcript/report.h"

namespace deputy {

struct ReportBounds {
  std::size_t report_bytes = 32 * 1024;  // of all that one says: errors, body, lists, diff
  std::size_t batch_bytes = 128 * 1024;  // of all that those of a batch say
};

// How much of each is shown, at most `each` of one and `all` together, so that the last is not lost to the
// first: what a short one leaves goes to the long ones.
std::vector<std::size_t> shares_of(std::vector<std::size_t> sizes, std::size_t each, std::size_t all);

// "Error (type, recoverable): [CODE] message → recommendation"
std::string line_of(const ReportedError& error);
// The same for who has said the message: "(type, recoverable) [CODE] → recommendation"
std::string line_beside_message(const ReportedError& error);
// Where the whole of a report is that is shown in part.
std::string pointer_to(const std::string& spilled);

// What the parent reads of one child: a heading, how it ended, what went wrong, the body, and what the
// runtime knows of its work: artifacts, files changed, commands run, the diff. Beside the heading it says at
// most so many bytes: of each part its head and tail, and then where the whole is.
std::string told_of(const Report& report, std::size_t most = ReportBounds().report_bytes,
                    const std::optional<std::string>& spilled = std::nullopt);
// Where that cannot be made: the heading, how it ended, and how the rest is to be had.
std::string told_in_short(const Report& report);
// How many bytes told_of would take beside the heading.
std::size_t said_bytes(const Report& report);

// The same with nothing left out: what is spilled.
std::string whole_text(const Report& report);

// What a person is told of a run that did not complete: what happened, and the first recommendation where all
// of it can be recovered from; else what needs their hand.
struct ForPerson {
  std::string problem;
  std::string advice;
};
ForPerson for_person(const Report& report);

}  // namespace deputy
