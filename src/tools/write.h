// Write: a new file of the workspace, or all of one that this session has read.
#pragma once

#include "tools/file_tool.h"

namespace deputy {

class WriteTool final : public FileTool {
 public:
  WriteTool() : FileTool("file_path", IfMissing::create) {}
  const ToolText& text() const override;
  std::string approval_text(const json::object& arguments, const ToolContext& context) const override;

 protected:
  std::expected<Revision, std::string> revised(const json::object& arguments,
                                               const std::optional<std::string>& old,
                                               const std::string& name) const override;
};

}  // namespace deputy
