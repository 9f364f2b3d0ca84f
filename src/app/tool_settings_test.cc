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

TEST(ToolSettings, FoldersBesideTheWorkspaceAreAbsoluteOrInTheHome) {
  const auto settings = parse_settings("allowed_paths = [\"/srv/data\", \"~/notes\"]\n", "c");
  ASSERT_TRUE(settings);
  EXPECT_EQ(settings->allowed_paths, (std::vector<std::string>{"/srv/data", "~/notes"}));
  EXPECT_TRUE(narrowing_part(*settings).allowed_paths.empty()) << "a project adds none";
  for (const char* wrong : {"allowed_paths = \"/srv\"", "allowed_paths = [1]", "allowed_paths = [\"notes\"]",
                            "allowed_paths = [\"/\"]", "allowed_paths = [\"\"]"}) {
    const auto mistake = parse_settings(wrong, "c");
    ASSERT_FALSE(mistake) << wrong;
    EXPECT_THAT(mistake.error().advice, HasSubstr("a list of at most 8 folders")) << wrong;
  }
  std::string many;
  for (std::size_t i = 0; i < kMostAllowedPaths; ++i) many += "\"/a\",";
  EXPECT_TRUE(parse_settings("allowed_paths = [" + many + "]", "c"));
  EXPECT_FALSE(parse_settings("allowed_paths = [" + many + "\"/a\"]", "c"));
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
