// Whatever surrounds a secret, it is not in what comes out: of the whole text, and of one that is taken off
// in two pieces where the first is settled.
#include "base/redaction.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>

using namespace deputy;

namespace {

constexpr std::string_view kSecret = "hunter2-hunter2";

void must(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static const Redactor redactor = [] {
    Redactor made;
    made.hide(kSecret);
    return made;
  }();
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(bytes) + 1, size - 1);
  must(!redactor.redact(text).contains(kSecret));
  must(!redactor.redact_values(text).contains(kSecret));
  const std::size_t wanted = std::min<std::size_t>(bytes[0], text.size());
  const std::size_t settled = redactor.settled(text, wanted);
  must(settled <= wanted);
  must(!(redactor.redact(text.substr(0, settled)) + redactor.redact(text.substr(settled))).contains(kSecret));
  return 0;
}
