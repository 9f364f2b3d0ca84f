// Edit: replaces one piece of a file by another, byte for byte. Everything else stays: line ends, encoding,
// mode.
#pragma once

#include "tools/file_tool.h"

namespace deputy {

class EditTool final : public FileTool {
 public:
  EditTool() : FileTool("file_path", IfMissing::refuse) {}
  const ToolText& text() const override;
  std::string approval_text(const json::object& arguments, const ToolContext& context) const override;

 protected:
  std::expected<Revision, std::string> revised(const json::object& arguments,
                                               const std::optional<std::string>& old,
                                               const std::string& name) const override;
};

}  // namespace deputy
