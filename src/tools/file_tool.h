// What Edit, Write and NotebookEdit share. Each says how a file's new content comes from its old one; here it
// is planned, carried out, and after a crash found done or finished. A file that exists is changed only while
// it is as this session last read or wrote it. The intent holds the content's hashes before and after: what
// is found to be neither is somebody else's work and left alone.
#pragma once

#include <expected>
#include <optional>
#include <string>

#include "tools/tool.h"

namespace deputy {

struct Revision {
  std::string content;
  std::string said;  // to the model, once it is done: "Edited src/a.cc at line 12."
};

class FileTool : public Tool {
 public:
  static constexpr std::size_t kMaxBytes = 16 * 1024 * 1024;  // of a file before and after

  Effect effect() const final { return Effect::keyed; }
  bool writes() const final { return true; }
  std::optional<std::string> path(const json::object& arguments) const final;
  std::string shown(const json::object& arguments) const override;
  std::string in_full(const json::object& arguments) const override;
  Task<Planned> plan(json::object arguments, ToolContext context) final;
  Task<ToolResult> run(json::object arguments, ToolContext context) final;

 protected:
  enum class IfMissing { refuse, create };
  FileTool(std::string path_argument, IfMissing if_missing)
      : path_argument_(std::move(path_argument)), if_missing_(if_missing) {}

  // The file as it is to be; `old` is nothing where there is no file. Pure: asked again it says the same. The
  // error tells the model how to put it right.
  virtual std::expected<Revision, std::string> revised(const json::object& arguments,
                                                       const std::optional<std::string>& old,
                                                       const std::string& name) const = 0;

 private:
  using Refused = std::unexpected<ToolResult>;
  Planned planned(const json::object& arguments, const ToolContext& context) const;
  std::expected<Revision, ToolResult> revised_within_bounds(const json::object& arguments,
                                                            const std::optional<std::string>& old,
                                                            const std::string& name) const;
  ToolResult carried_out(const json::object& arguments, const Target& target, const FileChange& intent) const;

  std::string path_argument_;
  IfMissing if_missing_;
};

}  // namespace deputy
