#include "support/golden.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/environment.h"
#include "support/paths.h"

namespace deputy {

void expect_golden(const std::string& name, std::string_view actual) {
  const std::string path = source_dir() + "/tests/golden/" + name;
  if (SystemEnvironment().get("DEPUTY_ACCEPT_GOLDEN")) {
    std::ofstream(path, std::ios::binary) << actual;
    GTEST_SKIP() << "rewrote " << path;
  }
  std::ifstream file(path, std::ios::binary);
  ASSERT_TRUE(file) << path << " is missing: run with DEPUTY_ACCEPT_GOLDEN=1 and look at what it wrote";
  const std::string expected{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(actual, expected) << "differs from " << path;
}

}  // namespace deputy
