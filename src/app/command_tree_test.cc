#include "app/command_tree.h"

#include <gmock/gmock.h>

#include <algorithm>

namespace deputy {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

void expect_described(const CommandTree& command, const std::string& path) {
  EXPECT_THAT(command.about, Not(IsEmpty())) << path;
  if (command.commands.empty()) EXPECT_THAT(command.example, HasSubstr("deputy")) << path;
  for (const auto& option : command.options)
    EXPECT_THAT(option.about, Not(IsEmpty())) << path << option.names.back();
  for (const auto& each : command.commands) expect_described(each, path + " " + each.name);
}

TEST(CommandTree, EveryCommandSaysWhatItDoesAndHasAnExample) { expect_described(command_tree(), "deputy"); }

TEST(CommandTree, KnowsWhichOptionsTakeAValue) {
  const auto program = command_tree();
  const auto find = [&](std::string_view name) {
    return *std::ranges::find_if(program.options,
                                 [&](const CommandOption& option) { return option.names.back() == name; });
  };
  EXPECT_EQ(find("--cwd").kind, "DIR");
  EXPECT_EQ(find("--yes").kind, "");
}

TEST(CommandTree, TheManualTellsOfEveryCommandAndOption) {
  const auto program = command_tree();
  const std::string page = manual_page(program);
  for (const auto& command : program.commands) EXPECT_THAT(page, HasSubstr(command.name));
  EXPECT_THAT(page, HasSubstr("\\-\\-max\\-depth"));
  EXPECT_THAT(page, Not(HasSubstr("\n.B\n")));
}

}  // namespace
}  // namespace deputy
