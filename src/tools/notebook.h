// A Jupyter notebook as text: one cell is replaced, inserted or deleted, and everything else stays byte for
// byte as it was, numbers and indentation included. Pure.
#pragma once

#include <expected>
#include <string>
#include <string_view>

namespace deputy {

struct CellEdit {
  enum class Mode { replace, insert, remove };
  enum class Kind { as_it_is, code, markdown, raw };
  Mode mode = Mode::replace;
  std::string cell;  // its id, or "cell-0" by place; to insert: the one before, empty for the beginning
  Kind kind = Kind::as_it_is;  // to insert: code, unless said otherwise
  std::string source;
};

struct EditedNotebook {
  std::string text;
  std::string what;  // "cell 3f2a", "a new cell 9c01"
};

// The error tells what is wrong and which cells there are. A replaced code cell loses its outputs: they would
// be those of other code. A new cell's id follows from the notebook and the source alone.
std::expected<EditedNotebook, std::string> edit_notebook(std::string_view text, const CellEdit& edit);

}  // namespace deputy
