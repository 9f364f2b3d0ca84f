// A report as its readers see it: the parent's model, and the person. Pure. How much of a long body is shown
// is the caller's to say, and where the whole of it lies.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "transcript/report.h"

namespace deputy {

struct ReportBounds {
  std::size_t report_bytes = 32 * 1024;  // of a body
  std::size_t batch_bytes = 128 * 1024;  // of all bodies of a batch
};

// How much of each body is shown, so that the last is not lost to the first: all share what the batch may
// hold, and what a short one leaves goes to the long ones.
std::vector<std::size_t> shares_of(const std::vector<Report>& reports, const ReportBounds& bounds);

// The body, or its head and tail and where the whole is.
std::string shown_body(const Report& report, std::size_t most, const std::optional<std::string>& spilled);

// What the parent reads of one child: a heading, how it ended, what went wrong, the body, and what the
// runtime knows of its work: artifacts, files changed, commands run, the diff.
std::string told_of(const Report& report, std::size_t most = ReportBounds().report_bytes,
                    const std::optional<std::string>& spilled = std::nullopt);

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
