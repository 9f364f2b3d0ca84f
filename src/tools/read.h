// Read: a text file of the workspace, or some lines of it, with line numbers.
#pragma once

#include "tools/tool.h"

namespace deputy {

class ReadTool final : public Tool {
 public:
  static constexpr std::size_t kDefaultLines = 2000;
  static constexpr std::size_t kMaxTextBytes = 256 * 1024;  // of one result
  static constexpr std::uint64_t kMaxScanned =
      64 * 1024 * 1024;  // lines past this are neither reached nor counted

  const ToolText& text() const override;
  Effect effect() const override { return Effect::pure; }
  std::size_t most_result_bytes() const override {
    return kMaxTextBytes + 1024;
  }  // and what is said about it
  std::string shown(const json::object& arguments) const override;
  std::string in_full(const json::object& arguments) const override;
  std::optional<std::string> path(const json::object& arguments) const override;
  Task<ToolResult> run(json::object arguments, ToolContext context) override;
};

}  // namespace deputy
