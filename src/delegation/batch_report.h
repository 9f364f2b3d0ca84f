// The result of a batch as its parent reads it: Markdown or JSON, in input order, each report bounded.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "transcript/report.h"

namespace deputy {

enum class BatchLayout { markdown, json };

struct BatchBounds {
  std::size_t report_bytes = 32 * 1024;
  std::size_t batch_bytes = 128 * 1024;
};

std::string batch_text(const std::vector<Report>& reports, BatchLayout layout,
                       const BatchBounds& bounds = {});

// ok, partial or error: blocked counts as partial, cancelled as error.
std::string_view batch_status(Status status);

}  // namespace deputy
