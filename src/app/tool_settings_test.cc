#include <gmock/gmock.h>

#include "app/settings.h"

namespace deputy {
namespace {

using ::testing::HasSubstr;

TEST(ToolSettings, OfTheSandboxAreALevelAndWhetherThereIsANetwork) {
  const auto settings = parse_settings("[sandbox]\nleast = 1\nnetwork = true\n", "c");
  ASSERT_TRUE(settings);
  EXPECT_EQ(settings->sandbox.least, SandboxLevel::restricted);
  EXPECT_EQ(settings->sandbox.network, true);
  EXPECT_TRUE(parse_settings("[sandbox]\nleast = 3\n", "c"));
  const auto past = parse_settings("[sandbox]\nleast = 4\n", "c");
  ASSERT_FALSE(past);
  EXPECT_THAT(past.error().advice, HasSubstr("deputy doctor"));
}

TEST(ToolSettings, ThereIsNoSearchWhereNoneIsConfigured) {
  EXPECT_FALSE(search_of({}, MapEnvironment()));
  EXPECT_FALSE(search_of(*parse_settings("[search]\nservice = \"brave\"\n", "c"), MapEnvironment()));
}

TEST(ToolSettings, ASearchServiceIsFoundByItsUsualVariable) {
  EXPECT_EQ(search_of({}, MapEnvironment({{"TAVILY_API_KEY", "t"}}))->service, SearchService::tavily);
  EXPECT_EQ(search_of({}, MapEnvironment({{"BRAVE_API_KEY", "b"}}))->key, "b");
  EXPECT_EQ(search_of({}, MapEnvironment({{"SEARXNG_URL", "http://127.0.0.1:8888"}}))->base_url,
            "http://127.0.0.1:8888");
}

TEST(ToolSettings, ASearchServiceThatIsSetIsTheOneThatIsAsked) {
  const auto settings = parse_settings("[search]\nservice = \"brave\"\nkey_env = \"MINE\"\n", "c");
  ASSERT_TRUE(settings);
  const auto found = search_of(*settings, MapEnvironment({{"TAVILY_API_KEY", "t"}, {"MINE", "m"}}));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->service, SearchService::brave);
  EXPECT_EQ(found->key, "m");
}

}  // namespace
}  // namespace deputy
