// Whatever ripgrep prints, or somebody in its place: all that comes out is valid text of bounded length.
#include "tools/rg_output.h"

#include "base/text.h"
#include "must.h"

using namespace deputy;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view output(reinterpret_cast<const char*>(bytes), size);
  for (const FoundFile& file : parse_rg_json(output)) {
    must(!file.lines.empty() && file.matches <= file.lines.size());
    for (const FoundLine& line : file.lines) {
      must(is_utf8(line.text) && utf8_length(line.text) <= kMaxFoundCharacters);
    }
  }
  for (const FoundFile& file : parse_rg_counts(output)) must(!file.path.contains('\0'));
  for (const std::string& path : parse_rg_paths(output)) must(!path.contains('\0'));
  return 0;
}
