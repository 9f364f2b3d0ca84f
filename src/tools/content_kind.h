// What kind of file begins like this, where it is not text.
#pragma once

#include <optional>
#include <string_view>

namespace deputy {

// "a PNG image", "a PDF document", "a binary file"; nothing for text, whatever its encoding, unless it holds
// NUL bytes.
std::optional<std::string_view> kind_unless_text(std::string_view beginning);

}  // namespace deputy
