// What stands in the record of a command, which whatever wrote the disk may have changed: what is understood
// is within what can be meant.
#include "sandbox/status_record.h"

#include <cstdint>

#include "must.h"
#include "tools/repositories.h"

using namespace deputy;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  const StatusRecord record = parse_status(text);
  must(!record.refused || !record.refused->contains('\n'));
  if (record.use) must(record.use->cpu >= Duration{} && record.use->memory >= 0);
  if (const auto known = known_in(text.substr(0, text.find('\n')))) {
    std::string line = to_line(*known);
    must(line.ends_with('\n'));
    line.pop_back();
    must(known_in(line) == known);
  }
  return 0;
}
