// Bytes of the Messages API, good and bad.
#include "dialect_events.h"
#include "model/anthropic.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static const auto dialect = deputy::anthropic_dialect();
  return deputy::fuzz_dialect(*dialect, {reinterpret_cast<const char*>(bytes), size});
}
