#include "app/command_tree.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <span>

#include "app/arguments.h"

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

// As a shell takes it: quoted words are one, and what follows a pipe or an arrow is not of the command.
std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words(1);
  bool is_quoted = false;
  for (const char c : line) {
    if (!is_quoted && (c == '|' || c == '>')) break;
    if (c == '"') {
      is_quoted = !is_quoted;
    } else if (c == ' ' && !is_quoted) {
      words.emplace_back();
    } else {
      words.back() += c;
    }
  }
  std::erase(words, "");
  return words;
}

void expect_example_is_meant(const CommandTree& command, std::vector<std::string> path) {
  path.push_back(command.name);
  if (!command.example.empty()) {
    const auto words = words_of(command.example);
    ASSERT_GE(words.size(), path.size()) << command.example;
    EXPECT_EQ(words.front(), "deputy") << command.example;
    EXPECT_TRUE(std::equal(path.begin() + 1, path.end(), words.begin() + 1)) << command.example;
    const auto arguments = parse_arguments(std::span(words).subspan(1));
    EXPECT_TRUE(arguments) << command.example << ": " << arguments.error().message;
    if (!arguments) return;
    EXPECT_EQ(std::holds_alternative<ChatArguments>(arguments->command), command.name == "chat")
        << command.example;
  }
  for (const auto& each : command.commands) expect_example_is_meant(each, path);
}

TEST(CommandTree, EveryExampleIsACommandLineOfItsCommand) { expect_example_is_meant(command_tree(), {}); }

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
