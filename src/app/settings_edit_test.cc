#include "app/settings_edit.h"

#include <gtest/gtest.h>

#include "app/settings.h"

namespace deputy {
namespace {

Rule allow(std::string_view text) { return *parse_rule(Decision::allow, text); }

TEST(SettingsEdit, BeginsAFile) {
  EXPECT_EQ(*with_rule("", allow("Bash(git status)")), "[permissions]\nallow = [\"Bash(git status)\"]\n");
}

TEST(SettingsEdit, AddsToAListAndKeepsTheRest) {
  constexpr std::string_view kBefore = R"toml(# mine
model = "rehearsal"  # for now

[permissions]
deny = ["Read(secrets/**)"]
allow = [  # what I trust
  "Read",
]

[limits]
max_depth = 2
)toml";
  const auto after = with_rule(kBefore, allow("Edit(a.txt)"));
  ASSERT_TRUE(after) << after.error().message;
  EXPECT_TRUE(after->contains("# what I trust"));
  EXPECT_TRUE(after->contains("# for now"));
  const auto settings = parse_settings(*after, "f");
  ASSERT_TRUE(settings) << settings.error().message;
  EXPECT_EQ(settings->rules.size(), 3u);
  EXPECT_EQ(settings->limits.max_depth, 2);
}

TEST(SettingsEdit, AddsAListToATableWithoutOne) {
  EXPECT_EQ(*with_rule("[permissions]\ndeny = [\"Bash\"]\n", allow("Read")),
            "[permissions]\nallow = [\"Read\"]\ndeny = [\"Bash\"]\n");
  EXPECT_EQ(*with_rule("[permissions]\nallow = []\n", allow("Read")), "[permissions]\nallow = [\"Read\"]\n");
  EXPECT_EQ(*with_rule("[permissions]", allow("Read")), "[permissions]\nallow = [\"Read\"]\n");
}

TEST(SettingsEdit, SaysARuleOnce) {
  const std::string text = "[permissions]\nallow = [\"Read\"]\n";
  EXPECT_EQ(*with_rule(text, allow("Read")), text);
}

TEST(SettingsEdit, LeavesAFileThatItCannotEditToThePerson) {
  const auto after = with_rule("permissions = {allow = [\"Read\"]}\n", allow("Edit"));
  ASSERT_FALSE(after);
  EXPECT_TRUE(after.error().advice.contains("add it yourself"));
  EXPECT_FALSE(with_rule("this is no TOML", allow("Edit")));
}

TEST(SettingsEdit, QuotesWhatNeedsIt) {
  const auto after = with_rule("", allow("Bash(echo \"a\\b\")"));
  ASSERT_TRUE(after) << after.error().message;
  EXPECT_EQ(parse_settings(*after, "f")->rules.front(), allow("Bash(echo \"a\\b\")"));
}

}  // namespace
}  // namespace deputy
