// The words of the rehearsal model: notes and reports made from Findings alone. Short Markdown, each finding
// a line
// "- path:line — text" whose place a tool has shown. It always says that this is no language model.
#pragma once

#include <string>
#include <vector>

#include "model/rehearsal_findings.h"
#include "model/rehearsal_plan.h"

namespace deputy {

inline constexpr std::size_t kMostReportLines = 25;

// The one finding worth keeping if nothing else is.
std::string note_text(const Plan& plan, const Findings& findings);
std::string report_text(const Plan& plan, const Findings& findings, const std::vector<std::string>& nudges);
// A root's last word over its children's.
std::string merged_text(const std::vector<ChildReport>& children);

}  // namespace deputy
