#include "tools/write.h"

#include <fmt/format.h>

#include "base/text.h"
#include "tools/wording.h"

namespace deputy {
namespace {

constexpr std::string_view kDescription =
    R"(Writes a whole file, making its folders. Read a file that exists before you overwrite it; to change parts of it use Edit.)";

constexpr std::string_view kSchema = R"json({
"type":"object",
"properties":{
"file_path":{"type":"string","minLength":1},
"content":{"type":"string"}},
"required":["file_path","content"],
"additionalProperties":false})json";

}  // namespace

const ToolText& WriteTool::text() const {
  static const ToolText text{"Write", std::string(kDescription), std::string(kSchema)};
  return text;
}

std::string WriteTool::approval_text(const json::object& arguments, const ToolContext& context) const {
  const bool is_new = context.intent && context.intent->before.empty();
  return fmt::format("{}\n{}:\n{}", Tool::approval_text(arguments, context),
                     is_new ? "A new file" : "All of it is replaced by", string_or(arguments, "content", ""));
}

std::expected<Revision, std::string> WriteTool::revised(const json::object& arguments,
                                                        const std::optional<std::string>& old,
                                                        const std::string& name) const {
  std::string content = string_or(arguments, "content", "");
  std::string said = fmt::format("{} {}: {}.", old ? "Replaced" : "Created", name,
                                 counted(lines_of(content).size(), "line"));
  return Revision{std::move(content), std::move(said)};
}

}  // namespace deputy
