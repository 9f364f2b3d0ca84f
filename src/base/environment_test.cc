#include "base/environment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

namespace deputy {
namespace {

TEST(SystemEnvironment, ReadsTheProcessEnvironment) {
  ::setenv("DEPUTY_ENVIRONMENT_TEST", "there", 1);
  ::setenv("DEPUTY_ENVIRONMENT_EMPTY", "", 1);
  const SystemEnvironment environment;
  EXPECT_EQ(environment.get("DEPUTY_ENVIRONMENT_TEST"), "there");
  EXPECT_EQ(environment.get("DEPUTY_ENVIRONMENT_EMPTY"), std::nullopt);
  EXPECT_EQ(environment.get("DEPUTY_ENVIRONMENT_NEVER_SET"), std::nullopt);
  const std::vector<std::string> names = environment.names();
  EXPECT_TRUE(std::ranges::is_sorted(names));
  EXPECT_NE(std::ranges::find(names, "DEPUTY_ENVIRONMENT_TEST"), names.end());
  EXPECT_EQ(std::ranges::find(names, "DEPUTY_ENVIRONMENT_EMPTY"), names.end());
  ::unsetenv("DEPUTY_ENVIRONMENT_TEST");
  ::unsetenv("DEPUTY_ENVIRONMENT_EMPTY");
}

TEST(SystemEnvironment, FindsNothingUnderNamesThatCannotBe) {
  ::setenv("DEPUTY_ENVIRONMENT_TEST", "there", 1);
  const SystemEnvironment environment;
  EXPECT_EQ(environment.get(""), std::nullopt);
  EXPECT_EQ(environment.get("A=B"), std::nullopt);
  EXPECT_EQ(environment.get(std::string_view("DEPUTY_ENVIRONMENT_TEST\0X", 25)), std::nullopt);
  ::unsetenv("DEPUTY_ENVIRONMENT_TEST");
}

TEST(MapEnvironment, CountsAnEmptyVariableAsUnset) {
  MapEnvironment environment({{"B", "2"}, {"EMPTY", ""}});
  environment.set("A", "1");
  EXPECT_EQ(environment.get("A"), "1");
  EXPECT_EQ(environment.get("EMPTY"), std::nullopt);
  EXPECT_EQ(environment.names(), (std::vector<std::string>{"A", "B"}));
}

}  // namespace
}  // namespace deputy
