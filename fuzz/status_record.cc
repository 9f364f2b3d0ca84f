// What stands in the record of a command, which whatever wrote the disk may have changed: what is understood
// is within what can be meant.
#include "sandbox/status_record.h"

#include <cstdint>
#include <cstdlib>

using namespace deputy;

namespace {

void must(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const StatusRecord record = parse_status({reinterpret_cast<const char*>(bytes), size});
  must(!record.refused || !record.refused->contains('\n'));
  if (record.use) must(record.use->cpu >= Duration{} && record.use->memory >= 0);
  return 0;
}
