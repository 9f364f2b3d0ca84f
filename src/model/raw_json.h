// Values of a JSON text as they stand there, byte for byte: what a provider wants back unchanged must not
// pass through a printer. The text need not be valid; what is handed out is, or is not handed out.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace deputy {

// The object at a JSON pointer ("/content_block").
std::optional<std::string> raw_object(std::string_view text, std::string_view pointer);
// The objects of the array at a JSON pointer; nothing where it is no array or has other elements.
std::optional<std::vector<std::string>> raw_objects(std::string_view text, std::string_view pointer);

}  // namespace deputy
