// The configuration of a repository in a folder that an agent has worked in: whatever it says, no path is
// longer than what says it, and to be read once more as a value changes none.
#include "tools/git_config.h"

#include <cstdint>
#include <cstdlib>

using namespace deputy;

namespace {

void must(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const GitConfigPaths paths =
      paths_in_git_config(std::string_view(reinterpret_cast<const char*>(bytes), size));
  std::size_t told = 0;
  for (const auto& list : {paths.included, paths.hooks}) {
    for (const std::string& path : list) told += path.size();
  }
  must(told <= size);
  std::string written = "[include]\n";
  for (const std::string& path : paths.included) {
    written += "path = \"";
    for (const char letter : path) {
      if (letter == '\n') {
        written += "\\n";
        continue;
      }
      if (letter == '"' || letter == '\\') written += '\\';
      written += letter;
    }
    written += "\"\n";
  }
  must(paths_in_git_config(written).included == paths.included);
  return 0;
}
