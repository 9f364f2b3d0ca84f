// The two layouts of a batch (S0 §11) with every status in it, as golden files.

#include <gtest/gtest.h>

#include "delegation/batch_report.h"
#include "support/golden.h"

namespace deputy {
namespace {

Report report(std::string label, Status status, Reason reason, std::string body) {
  Report made;
  made.label = std::move(label);
  made.status = status;
  made.reason = reason;
  made.body = std::move(body);
  made.session = SessionId("sess_1800000000_" + made.label);
  made.usage = {.input = 45000, .output = 2100};
  return made;
}

std::vector<Report> one_of_each() {
  std::vector<Report> reports{
      report("done", Status::completed, Reason::none, "All is well."),
      report("full", Status::partial, Reason::context_exhausted, "one note\nanother note"),
      report("late", Status::partial, Reason::timeout, "as far as it got"),
      report("stuck", Status::blocked, Reason::reported, "It cannot be pushed."),
      report("broken", Status::failed, Reason::provider_error, "a finding"),
      report("gone", Status::cancelled, Reason::cancelled_by_user, ""),
  };
  reports[2].errors = {{"timeout", "TIMEOUT", "its time was up", true, "resume it with more time"}};
  reports[3].errors = {{"access", "PROTECTED", "the branch is protected", false, "ask its owner"}};
  reports[4].errors = {{"provider_error", "PROVIDER_ERROR", "the provider is down", true, "run it again"}};
  reports[5].errors = {{"cancelled_by_user", "CANCELLED_BY_USER", "cancelled by the person", true, ""}};
  return reports;
}

TEST(BatchLayouts, MarkdownIsStable) {
  expect_golden("batch.md", batch_text(one_of_each(), BatchLayout::markdown));
}

TEST(BatchLayouts, JsonIsStable) {
  expect_golden("batch.json", batch_text(one_of_each(), BatchLayout::json) + "\n");
}

}  // namespace
}  // namespace deputy
