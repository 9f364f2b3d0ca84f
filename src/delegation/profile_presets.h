// Profiles to start from, as they are written to a file by `deputy agents init`.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace deputy {

std::vector<std::string> preset_names();
// The file's text; nothing where there is no such preset.
std::optional<std::string_view> preset_text(std::string_view name);

}  // namespace deputy
