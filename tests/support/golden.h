// Golden files: expect_golden(name, text) compares with tests/golden/NAME. DEPUTY_ACCEPT_GOLDEN=1 rewrites
// the file and marks the test skipped, never passed.
#pragma once

#include <string>
#include <string_view>

namespace deputy {

void expect_golden(const std::string& name, std::string_view actual);

}  // namespace deputy
