// A pattern for paths, as a model or a rule has it, and a path, a line each: a pattern is refused with words,
// or it judges any path in good time.
#include "guard/glob.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>

using namespace deputy;

namespace {

void must(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  const std::size_t line_break = std::min(text.find('\n'), text.size());
  const std::string_view path = text.substr(std::min(line_break + 1, text.size()));
  const auto glob = Glob::compile(text.substr(0, line_break));
  if (!glob) {
    must(!glob.error().message.empty());
    return 0;
  }
  must(!glob->alternatives().empty() && glob->alternatives().size() <= Glob::kMaxAlternatives);
  must(glob->matches(path) == (glob->match(path) == GlobMatch::whole));
  (void)glob->may_match_end_of(path);
  return 0;
}
