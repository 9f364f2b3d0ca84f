// NotebookEdit: replaces, inserts or deletes one cell of a Jupyter notebook that this session has read.
#pragma once

#include "tools/file_tool.h"

namespace deputy {

class NotebookEditTool final : public FileTool {
 public:
  NotebookEditTool() : FileTool("notebook_path", IfMissing::refuse) {}
  const ToolText& text() const override;
  std::string approval_text(const json::object& arguments, const ToolContext& context) const override;

 protected:
  std::expected<Revision, std::string> revised(const json::object& arguments,
                                               const std::optional<std::string>& old,
                                               const std::string& name) const override;
};

}  // namespace deputy
