#include "tools/notebook.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "base/json.h"
#include "base/text.h"
#include "tools/json_spans.h"

namespace deputy {
namespace {

constexpr std::size_t kMostCellsNamed = 40;
using Failed = std::unexpected<std::string>;

struct Notebook {
  std::string_view text;
  json::object root;
  ArraySpans spans;
  const json::array& cells() const { return root.at("cells").as_array(); }
};

std::expected<Notebook, std::string> parsed(std::string_view text) {
  auto root = parse_json_object(text);
  if (!root) return Failed(fmt::format("it is not a notebook: {}", root.error().message));
  if (integer_or(*root, "nbformat", 0) != 4)
    return Failed("it is not a notebook of format 4: Read it, and change it with Edit");
  const auto* cells = array_at(*root, "cells");
  auto spans = array_member(text, "cells");
  if (!cells || !spans || spans->elements.size() != cells->size())
    return Failed("it is not a notebook: it has no list of cells");
  for (const auto& cell : *cells) {
    if (!cell.is_object()) return Failed("it is not a notebook: a cell is not an object");
  }
  return Notebook{text, *std::move(root), *std::move(spans)};
}

std::string name_of_cell(const Notebook& notebook, std::size_t index) {
  return string_or(notebook.cells()[index].get_object(), "id", fmt::format("cell-{}", index));
}

std::expected<std::size_t, std::string> find_cell(const Notebook& notebook, const std::string& wanted) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < notebook.cells().size(); ++i) {
    if (string_or(notebook.cells()[i].get_object(), "id", "") == wanted) return i;
    names.push_back(name_of_cell(notebook, i));
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (wanted == fmt::format("cell-{}", i)) return i;
  }
  if (names.size() > kMostCellsNamed) names.resize(kMostCellsNamed);
  return Failed(wanted.empty() ? fmt::format("name the cell. There are: {}", fmt::join(names, ", "))
                               : fmt::format("it has no cell {}. There are: {}", shorten(wanted, 64),
                                             fmt::join(names, ", ")));
}

// How the notebook is laid out: what stands before each cell, and by how much each level is indented.
struct Layout {
  std::string margin;  // of a cell; nothing where all is on one line
  std::string unit;
  bool is_compact = true;
};

std::string_view space_before(std::string_view text, std::size_t at) {
  const std::size_t end = text.find_last_not_of(" \t\r\n", at == 0 ? 0 : at - 1);
  return end == std::string_view::npos ? text.substr(0, at) : text.substr(end + 1, at - end - 1);
}

Layout layout_of(const Notebook& notebook) {
  if (notebook.spans.elements.empty())
    return {.margin = "  ", .unit = " ", .is_compact = !notebook.text.contains('\n')};
  const std::string_view space = space_before(notebook.text, notebook.spans.elements.front().begin);
  const std::size_t line = space.rfind('\n');
  if (line == std::string_view::npos) return {};
  const std::string_view margin = space.substr(line + 1);
  return {.margin = std::string(margin),
          .unit = std::string(margin.substr(0, margin.size() / 2)),
          .is_compact = false};
}

// As Jupyter prints: a member a line, empty lists and objects on one.
void print(std::string& out, const json::value& value, const Layout& layout, const std::string& margin) {
  const bool is_list = value.is_array();
  const std::size_t size = is_list             ? value.get_array().size()
                           : value.is_object() ? value.get_object().size()
                                               : 0;
  if (layout.is_compact || size == 0) {
    out += to_json_text(value);
    return;
  }
  const std::string inner = margin + layout.unit;
  out += is_list ? '[' : '{';
  std::string_view parting = "\n";
  const auto begin_item = [&] {
    out.append(parting).append(inner);
    parting = ",\n";
  };
  if (is_list) {
    for (const auto& element : value.get_array()) {
      begin_item();
      print(out, element, layout, inner);
    }
  } else {
    for (const auto& member : value.get_object()) {
      begin_item();
      out.append(to_json_text(json::string(member.key()))).append(": ");
      print(out, member.value(), layout, inner);
    }
  }
  out.append("\n").append(margin).append(1, is_list ? ']' : '}');
}

std::string printed(const json::object& cell, const Layout& layout) {
  std::string out;
  print(out, cell, layout, layout.margin);
  return out;
}

// A list of lines with their line breaks, as Jupyter keeps it, or one string, where the cell had one.
json::value source_as(const json::value* before, std::string_view source) {
  if (before && before->is_string()) return json::string(source);
  json::array lines;
  for (std::size_t at = 0; at < source.size();) {
    const std::size_t end = std::min(source.find('\n', at), source.size() - 1) + 1;
    lines.emplace_back(json::string(source.substr(at, end - at)));
    at = end;
  }
  return lines;
}

std::string_view name_of(CellEdit::Kind kind) {
  return kind == CellEdit::Kind::markdown ? "markdown" : kind == CellEdit::Kind::raw ? "raw" : "code";
}

void set_kind(json::object& cell, std::string_view kind) {
  cell["cell_type"] = kind;
  if (kind == "code") {
    cell["execution_count"] = nullptr;
    cell["outputs"] = json::array();
  } else {
    cell.erase("execution_count");
    cell.erase("outputs");
  }
}

std::string with(std::string_view text, Span span, std::string_view new_text) {
  return std::string(text.substr(0, span.begin)).append(new_text).append(text.substr(span.end));
}

std::expected<EditedNotebook, std::string> replace_cell(const Notebook& notebook, const CellEdit& edit) {
  const auto index = find_cell(notebook, edit.cell);
  if (!index) return Failed(index.error());
  json::object cell = notebook.cells()[*index].get_object();
  cell["source"] = source_as(find(cell, "source"), edit.source);
  set_kind(cell, edit.kind == CellEdit::Kind::as_it_is ? string_or(cell, "cell_type", "code")
                                                       : std::string(name_of(edit.kind)));
  return EditedNotebook{
      with(notebook.text, notebook.spans.elements[*index], printed(cell, layout_of(notebook))),
      fmt::format("replaced cell {}", name_of_cell(notebook, *index))};
}

// Format 4.5 wants an id for every cell. It must be the same when the same edit is worked out again.
std::optional<std::string> new_id(const Notebook& notebook, const CellEdit& edit) {
  const bool wants_ids = integer_or(notebook.root, "nbformat_minor", 0) >= 5;
  if (!wants_ids) return std::nullopt;
  return sha256_hex(fmt::format("{}\n{}\n{}", notebook.text, edit.cell, edit.source)).substr(0, 8);
}

std::expected<EditedNotebook, std::string> insert_cell(const Notebook& notebook, const CellEdit& edit) {
  std::size_t place = 0;
  if (!edit.cell.empty()) {
    const auto index = find_cell(notebook, edit.cell);
    if (!index) return Failed(index.error());
    place = *index + 1;
  }
  json::object cell{{"cell_type", ""}};
  const auto id = new_id(notebook, edit);
  if (id) cell["id"] = *id;
  cell["metadata"] = json::object();
  cell["source"] = source_as(nullptr, edit.source);
  set_kind(cell, name_of(edit.kind));
  const Layout layout = layout_of(notebook);
  const std::string margin = layout.is_compact ? "" : "\n" + layout.margin;
  const auto& elements = notebook.spans.elements;
  const std::string body = printed(cell, layout);
  std::string text;
  if (elements.empty()) {
    const std::string end = layout.is_compact ? "" : "\n" + layout.margin.substr(layout.unit.size());
    text = with(notebook.text, notebook.spans.array, fmt::format("[{}{}{}]", margin, body, end));
  } else if (place == 0) {
    const std::size_t at = elements.front().begin;
    text = with(notebook.text, {at, at}, fmt::format("{},{}", body, margin));
  } else {
    const std::size_t at = elements[place - 1].end;
    text = with(notebook.text, {at, at}, fmt::format(",{}{}", margin, body));
  }
  return EditedNotebook{std::move(text),
                        fmt::format("inserted cell {}", id.value_or(fmt::format("cell-{}", place)))};
}

std::expected<EditedNotebook, std::string> remove_cell(const Notebook& notebook, const CellEdit& edit) {
  const auto index = find_cell(notebook, edit.cell);
  if (!index) return Failed(index.error());
  const auto& elements = notebook.spans.elements;
  Span gone = elements[*index];
  if (*index + 1 < elements.size()) {
    gone.end = elements[*index + 1].begin;  // with the comma and the space after it
  } else if (*index > 0) {
    gone.begin = elements[*index - 1].end;  // with those before it
  }
  return EditedNotebook{with(notebook.text, gone, ""),
                        fmt::format("deleted cell {}", name_of_cell(notebook, *index))};
}

}  // namespace

std::expected<EditedNotebook, std::string> edit_notebook(std::string_view text, const CellEdit& edit) {
  const auto notebook = parsed(text);
  if (!notebook) return Failed(notebook.error());
  switch (edit.mode) {
    case CellEdit::Mode::replace:
      return replace_cell(*notebook, edit);
    case CellEdit::Mode::insert:
      return insert_cell(*notebook, edit);
    case CellEdit::Mode::remove:
      return remove_cell(*notebook, edit);
  }
  return Failed("unknown edit_mode");
}

}  // namespace deputy
