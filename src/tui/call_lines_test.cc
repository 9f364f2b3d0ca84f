#include "tui/call_lines.h"

#include <gtest/gtest.h>

namespace deputy {
namespace {

constexpr std::size_t kNarrow = 40;

std::string failed(const std::string& tool, const std::string& content) {
  std::string text;
  for (const Line& line : call_lines({"1", tool, "{}"}, {"1", ToolStatus::error, content}, kNarrow))
    text += plain_text(line) + "\n";
  return text;
}

TEST(CallLines, TheReportOfAChildThatDidNotCompleteIsRendered) {
  EXPECT_EQ(failed("task",
                   "## Subagent Result (explore)\nStatus: cancelled\n\n**Findings so far:**\n\n- `a` is "
                   "*here*\n```\n"),
            "✗ task\n    Subagent Result (explore)\n    Status: cancelled\n    Findings so far:\n"
            "    • a is here\n    ```\n");
}

TEST(CallLines, WhatACommandPrintedIsNot) {
  EXPECT_EQ(failed("Bash", "## main...origin/main\n**x**\n"),
            "✗ Bash\n    ## main...origin/main\n    **x**\n");
}

TEST(CallLines, ALineOfAReportIsNoWiderThanTheScreen) {
  const std::string content = "## Subagent Result (explore)\n**" + std::string(60, 'x') + "**\n";
  EXPECT_EQ(failed("task", content),
            "✗ task\n    Subagent Result (explore)\n    " + std::string(35, 'x') + "…\n");
}

}  // namespace
}  // namespace deputy
