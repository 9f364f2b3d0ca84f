// A file, and the old and the new text of an edit, parted by NUL bytes: nothing but the one place changes, or
// nothing does, and then it is said why.
#include "tools/exact_edit.h"

#include <cstdint>
#include <cstdlib>

#include "base/text.h"

using namespace deputy;

namespace {

void must(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const auto parts = split({reinterpret_cast<const char*>(bytes), size}, '\0');
  if (parts.size() != 3 || parts[1].empty()) return 0;
  const std::string_view content = parts[0];
  for (const auto which : {ExactEdit::Which::the_only_one, ExactEdit::Which::all}) {
    const ExactEdit edit{
        .old_text = std::string(parts[1]), .new_text = std::string(parts[2]), .which = which};
    const auto edited = apply_edit(content, edit, "file");
    if (!edited) {
      must(!edited.error().empty());
      continue;
    }
    must(!edited->where.empty());
    const bool has_one_line_end = !content.contains('\r') && !edit.old_text.contains('\r');
    if (which == ExactEdit::Which::all || !has_one_line_end) continue;
    const std::size_t at = content.find(edit.old_text);
    must(at != std::string_view::npos && at == content.rfind(edit.old_text));
    std::string expected(content);
    must(edited->content == expected.replace(at, edit.old_text.size(), edit.new_text));
  }
  return 0;
}
