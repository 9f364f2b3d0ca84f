#include "support/paths.h"

#include <cstdlib>
#include <string_view>

namespace deputy {

std::string bin_dir() { return BIN_DIR; }
std::string source_dir() { return SOURCE_DIR; }

std::optional<std::string> fixtures_dir() {
  const char* folder = std::getenv("DEPUTY_FIXTURES");
  if (folder == nullptr || *folder == '\0') return std::nullopt;
  return folder;
}

bool is_ci() {
  const char* value = std::getenv("CI");
  return value != nullptr && std::string_view(value) == "true";
}

}  // namespace deputy
