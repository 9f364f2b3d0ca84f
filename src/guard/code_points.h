// Text as the characters it is made of.
#pragma once

#include <string>
#include <string_view>

namespace deputy {

// Bytes that are not UTF-8 stand for themselves, outside of what Unicode can name.
std::u32string code_points(std::string_view text);

}  // namespace deputy
