#include "base/environment.h"

#include <unistd.h>

#include <cstdlib>
#include <set>

namespace deputy {

std::optional<std::string> SystemEnvironment::get(std::string_view name) const {
  // An embedded NUL would silently ask for another variable.
  if (name.empty() || name.contains('\0') || name.contains('=')) return std::nullopt;
  const char* value = std::getenv(std::string(name).c_str());
  if (value == nullptr || *value == '\0') return std::nullopt;
  return std::string(value);
}

std::vector<std::string> SystemEnvironment::names() const {
  std::set<std::string> sorted;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view pair = *entry;
    const std::size_t equals = pair.find('=');
    if (equals == std::string_view::npos || equals == 0 || equals + 1 == pair.size()) continue;
    sorted.emplace(pair.substr(0, equals));
  }
  return {sorted.begin(), sorted.end()};
}

std::optional<std::string> MapEnvironment::get(std::string_view name) const {
  const auto found = values_.find(name);
  if (found == values_.end() || found->second.empty()) return std::nullopt;
  return found->second;
}

std::vector<std::string> MapEnvironment::names() const {
  std::vector<std::string> names;
  for (const auto& [name, value] : values_) {
    if (!value.empty()) names.push_back(name);
  }
  return names;
}

}  // namespace deputy
