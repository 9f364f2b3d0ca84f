#include "tools/edit.h"

#include <fmt/format.h>

#include "base/text.h"
#include "tools/exact_edit.h"

namespace deputy {
namespace {

constexpr std::string_view kDescription =
    R"(Replaces old_string in a file you have read by new_string. old_string must occur exactly once, white space included, unless replace_all is true; leave out the line numbers that Read prints.)";

constexpr std::string_view kSchema = R"json({
"type":"object",
"properties":{
"file_path":{"type":"string","minLength":1},
"old_string":{"type":"string","minLength":1},
"new_string":{"type":"string"},
"replace_all":{"type":"boolean"}},
"required":["file_path","old_string","new_string"],
"additionalProperties":false})json";

ExactEdit edit_of(const json::object& arguments) {
  return {.old_text = string_or(arguments, "old_string", ""),
          .new_text = string_or(arguments, "new_string", ""),
          .which = bool_at(arguments, "replace_all").value_or(false) ? ExactEdit::Which::all
                                                                     : ExactEdit::Which::the_only_one};
}

std::string marked(char mark, std::string_view text) {
  std::string out;
  for (const std::string_view line : lines_of(text)) out += fmt::format("{} {}\n", mark, line);
  return out;
}

}  // namespace

const ToolText& EditTool::text() const {
  static const ToolText text{"Edit", std::string(kDescription), std::string(kSchema)};
  return text;
}

std::string EditTool::approval_text(const json::object& arguments, const ToolContext& context) const {
  const ExactEdit edit = edit_of(arguments);
  return fmt::format("{}{}\n{}{}", Tool::approval_text(arguments, context),
                     edit.which == ExactEdit::Which::all ? " (wherever it occurs)" : "",
                     marked('-', edit.old_text), marked('+', edit.new_text));
}

std::expected<Revision, std::string> EditTool::revised(const json::object& arguments,
                                                       const std::optional<std::string>& old,
                                                       const std::string& name) const {
  auto edited = apply_edit(old.value_or(""), edit_of(arguments), name);
  if (!edited) return std::unexpected(std::move(edited).error());
  return Revision{std::move(edited->content), fmt::format("Edited {} at {}.", name, edited->where)};
}

}  // namespace deputy
