// The words of the rehearsal model: notes and reports made from Findings alone. Short Markdown, each finding
// a line
// "- path:line — text" whose place a tool has shown. It always says that this is no language model.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/rehearsal_findings.h"
#include "model/rehearsal_plan.h"
#include "transcript/message.h"

namespace deputy {

inline constexpr std::size_t kMostReportLines = 25;

// The one finding worth keeping if nothing else is.
std::string note_text(const Plan& plan, const Findings& findings);
std::string report_text(const Plan& plan, const Findings& findings, const std::vector<std::string>& nudges);
// A root's last word over its children's.
std::string merged_text(const std::vector<ChildReport>& children);
// What a compacted conversation goes on from: all that was asked, what was called, and what was said last.
std::string summary_text(std::span<const Message> messages);
// What such a summary says was asked last.
std::string last_asked_in(std::string_view summary);

}  // namespace deputy
