// One text in place of another, exactly. Pure. Where the text that is looked for is not there, or there more
// than once, the error says where it nearly is or how often, so that the next attempt can be right.
#pragma once

#include <expected>
#include <string>
#include <string_view>

namespace deputy {

struct ExactEdit {
  enum class Which { the_only_one, all };
  std::string old_text;  // not empty
  std::string new_text;
  Which which = Which::the_only_one;
};

struct Edited {
  std::string content;
  std::string where;  // "line 12", "lines 3, 9 and 40"
};

// `name` is the file's, for the error. Line breaks in the edit are taken as the file has them: models see and
// write \n for \r\n too.
std::expected<Edited, std::string> apply_edit(std::string_view content, const ExactEdit& edit,
                                              std::string_view name);

}  // namespace deputy
