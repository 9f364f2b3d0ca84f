#include "transcript/profile_codec.h"

#include "gtest/gtest.h"

namespace deputy {
namespace {

Profile some_profile() {
  return {.name = "n",
          .description = "d",
          .instructions = "i",
          .tools = {"Read", "Bash"},
          .subagents = {"*"},
          .model = ModelName("a/b"),
          .max_turns = 1,
          .max_output_tokens = 2,
          .kind = WorkKind::planning,
          .timeout = std::chrono::seconds(3),
          .max_context_tokens = 4,
          .max_messages = 5,
          .compact = true,
          .returns = Returns::report,
          .output_schema = "{}",
          .permissions = {.allow = {"Read"}, .ask = {"Write"}, .deny = {"Bash(rm:*)"}},
          .on_ask = OnAsk::deny,
          .workspace = WorkspaceMode::scratch,
          .network = true,
          .hidden = true,
          .reentrant = true};
}

TEST(AProfileAsJson, ReadsBackAsItWasWritten) {
  const json::object written = to_json(some_profile());
  constexpr std::size_t kFields = 23;
  EXPECT_EQ(written.size(), kFields);
  const Profile read = profile_from_json(written);
  EXPECT_EQ(to_json(read), written);
  EXPECT_EQ(read.name, "n");
  EXPECT_EQ(read.tools, some_profile().tools);
  EXPECT_EQ(read.model, ModelName("a/b"));
  EXPECT_EQ(read.kind, WorkKind::planning);
  EXPECT_EQ(read.timeout, std::chrono::seconds(3));
  EXPECT_EQ(read.permissions.deny, some_profile().permissions.deny);
  EXPECT_EQ(read.workspace, WorkspaceMode::scratch);
}

TEST(AProfileAsJson, SaysNothingOfWhatIsInherited) {
  const json::object written = to_json(Profile{});
  for (const auto* key : {"model", "max_turns", "max_output_tokens", "kind", "timeout_ns", "compact"})
    EXPECT_FALSE(written.contains(key)) << key;
  EXPECT_EQ(to_json(profile_from_json({})), written);
  Profile endless;
  endless.timeout = kNoTimeout;
  EXPECT_EQ(profile_from_json(to_json(endless)).timeout, kNoTimeout);
}

// A bundle may say anything, and whoever adds it to a moment must get one.
TEST(AProfileAsJson, HasATimeOfAYearAtMostOrNone) {
  constexpr std::int64_t kYear = 365LL * 24 * 3600 * 1'000'000'000;
  const auto read = [](std::int64_t time) { return profile_from_json({{"timeout_ns", time}}).timeout; };
  EXPECT_EQ(read(1), Duration(1));
  EXPECT_EQ(read(kYear), Duration(kYear));
  EXPECT_EQ(read(kNoTimeout.count()), kNoTimeout);
  for (const std::int64_t time : {std::int64_t{0}, std::int64_t{-1}, kYear + 1, kNoTimeout.count() - 1})
    EXPECT_FALSE(read(time)) << time;
}

TEST(AProfileAsJson, IsAsIfNothingWasSaidWhereThatIsNoSuchThing) {
  const Profile read = profile_from_json({{"name", 1},
                                          {"tools", json::array{1, "Read"}},
                                          {"max_turns", 0},
                                          {"max_output_tokens", 1LL << 40},
                                          {"timeout_ns", -1},
                                          {"kind", "no such"},
                                          {"workspace", "no such"},
                                          {"hidden", "yes"}});
  EXPECT_EQ(read.name, "");
  EXPECT_EQ(read.tools, std::vector<std::string>{"Read"});
  EXPECT_FALSE(read.max_turns);
  EXPECT_FALSE(read.max_output_tokens);
  EXPECT_FALSE(read.timeout);
  EXPECT_FALSE(read.kind);
  EXPECT_EQ(read.workspace, Profile{}.workspace);
  EXPECT_FALSE(read.hidden);
}

}  // namespace
}  // namespace deputy
