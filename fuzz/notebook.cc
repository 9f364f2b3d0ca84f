// A notebook that can be edited stays valid JSON, has as many cells as it should, and the others are as they
// were.
#include "tools/notebook.h"

#include "base/json.h"
#include "must.h"
#include "tools/json_spans.h"

using namespace deputy;

namespace {

std::size_t cells_in(std::string_view text) {
  const auto root = parse_json_object(text);
  must(root.has_value());
  return array_at(*root, "cells")->size();
}

void try_edit(std::string_view text, const CellEdit& edit, std::size_t more, std::size_t fewer) {
  const auto edited = edit_notebook(text, edit);
  if (!edited) {
    must(!edited.error().empty());
    return;
  }
  must(cells_in(edited->text) + fewer == cells_in(text) + more);
  must(edit_notebook(text, edit)->text == edited->text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  for (const char* key : {"cells", "a", ""}) {
    if (const auto spans = array_member(text, key)) {
      for (const auto& [begin, end] : spans->elements) must(begin <= end && end <= text.size());
    }
  }
  const std::string source(text.substr(0, 64));
  try_edit(text, {.mode = CellEdit::Mode::replace, .cell = "cell-0", .source = source}, 0, 0);
  try_edit(text, {.mode = CellEdit::Mode::insert, .source = source}, 1, 0);
  try_edit(text, {.mode = CellEdit::Mode::insert, .cell = "cell-1", .source = source}, 1, 0);
  try_edit(text, {.mode = CellEdit::Mode::remove, .cell = "cell-1"}, 0, 1);
  return 0;
}
