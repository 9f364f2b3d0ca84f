#include "tools/notebook_edit.h"

#include <fmt/format.h>

#include "base/enum_names.h"
#include "base/text.h"
#include "tools/notebook.h"

namespace deputy {
namespace {

constexpr std::string_view kDescription =
    R"(Changes one cell of a Jupyter notebook you have read. insert puts a new cell after cell_id, or first without one.)";

constexpr std::string_view kSchema = R"json({
"type":"object",
"properties":{
"notebook_path":{"type":"string","minLength":1},
"cell_id":{"type":"string","description":"the cell's id, or cell-0, cell-1 …"},
"new_source":{"type":"string"},
"cell_type":{"type":"string","enum":["code","markdown","raw"]},
"edit_mode":{"type":"string","enum":["replace","insert","delete"],"description":"default: replace"}},
"required":["notebook_path","new_source"],
"additionalProperties":false})json";

constexpr EnumNames<CellEdit::Mode, 3> kModes{{{CellEdit::Mode::replace, "replace"},
                                               {CellEdit::Mode::insert, "insert"},
                                               {CellEdit::Mode::remove, "delete"}}};
constexpr EnumNames<CellEdit::Kind, 3> kKinds{
    {{CellEdit::Kind::code, "code"}, {CellEdit::Kind::markdown, "markdown"}, {CellEdit::Kind::raw, "raw"}}};

CellEdit edit_of(const json::object& arguments) {
  return {.mode = value_in(kModes, string_or(arguments, "edit_mode", "")).value_or(CellEdit::Mode::replace),
          .cell = string_or(arguments, "cell_id", ""),
          .kind = value_in(kKinds, string_or(arguments, "cell_type", "")).value_or(CellEdit::Kind::as_it_is),
          .source = string_or(arguments, "new_source", "")};
}

}  // namespace

const ToolText& NotebookEditTool::text() const {
  static const ToolText text{"NotebookEdit", std::string(kDescription), std::string(kSchema)};
  return text;
}

std::string NotebookEditTool::approval_text(const json::object& arguments, const ToolContext& context) const {
  const CellEdit edit = edit_of(arguments);
  return fmt::format("{}\n{} {}:\n{}", Tool::approval_text(arguments, context), name_in(kModes, edit.mode),
                     edit.cell.empty() ? "first cell" : on_one_line(edit.cell), edit.source);
}

std::expected<Revision, std::string> NotebookEditTool::revised(const json::object& arguments,
                                                               const std::optional<std::string>& old,
                                                               const std::string& name) const {
  auto edited = edit_notebook(old.value_or(""), edit_of(arguments));
  if (!edited) return std::unexpected(fmt::format("{} was not changed: {}.", name, edited.error()));
  return Revision{std::move(edited->text), fmt::format("{}: {}.", name, edited->what)};
}

}  // namespace deputy
