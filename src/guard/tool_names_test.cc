#include "guard/tool_names.h"

#include <gtest/gtest.h>

namespace deputy {
namespace {

TEST(ToolNames, OtherSpellingsAreMapped) {
  for (const char* name :
       {"Read", "read", "READ", "view", "read_file", "ReadFile", "read-file", "cat", " read "}) {
    EXPECT_EQ(canonical_tool_name(name), "Read") << name;
  }
  for (const char* name : {"bash", "run", "shell", "run_shell_command", "Bash"}) {
    EXPECT_EQ(canonical_tool_name(name), "Bash") << name;
  }
  EXPECT_EQ(canonical_tool_name("search"), "Grep");
  EXPECT_EQ(canonical_tool_name("ls"), "List");
  EXPECT_EQ(canonical_tool_name("LS"), "List");
  EXPECT_EQ(canonical_tool_name("find"), "Glob");
  EXPECT_EQ(canonical_tool_name("MultiEdit"), "Edit");
  EXPECT_EQ(canonical_tool_name("TodoWrite"), "Todo");
  EXPECT_EQ(canonical_tool_name("Task"), "task");
  EXPECT_EQ(canonical_tool_name("webfetch"), "WebFetch");
}

TEST(ToolNames, UnknownNamesStayAsTheyAre) {
  EXPECT_EQ(canonical_tool_name("Frobnicate"), "Frobnicate");
  EXPECT_EQ(canonical_tool_name(""), "");
  EXPECT_EQ(canonical_tool_name("_"), "_");
  EXPECT_FALSE(is_tool_name("Frobnicate"));
  EXPECT_FALSE(is_tool_name("read"));
}

TEST(ToolNames, EveryToolIsKnownByItsOwnName) {
  for (const std::string& name : tool_names()) {
    EXPECT_TRUE(is_tool_name(name));
    EXPECT_EQ(canonical_tool_name(name), name);
  }
}

TEST(ToolNames, ToolsOfServersKeepTheirNames) {
  EXPECT_TRUE(is_tool_name("mcp__github__search"));
  EXPECT_FALSE(is_tool_name("mcp__"));
  for (const char* name :
       {"mcp__git:hub", "mcp__github__*", "mcp__a b", "mcp__a(b", "mcp__a,b", "mcp__a\x0f"}) {
    EXPECT_FALSE(is_tool_name(name)) << name;
  }
  EXPECT_EQ(canonical_tool_name("mcp__github__Search_Code"), "mcp__github__Search_Code");
}

}  // namespace
}  // namespace deputy
