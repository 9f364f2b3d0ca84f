// The result of a batch as its parent reads it: Markdown or JSON, in input order, each report bounded: what
// is left out is left out of its texts, so JSON stays JSON.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "delegation/report_text.h"
#include "transcript/report.h"

namespace deputy {

enum class BatchLayout { markdown, json };

// Which of the reports say more than they may: those are shown in part.
std::vector<std::size_t> too_long(const std::vector<Report>& reports, BatchLayout layout,
                                  const ReportBounds& bounds);

// `spilled` says of each report where the whole of it is, if it is too long to be shown; it may be empty.
std::string batch_text(const std::vector<Report>& reports, BatchLayout layout,
                       const ReportBounds& bounds = {},
                       const std::vector<std::optional<std::string>>& spilled = {});

}  // namespace deputy
