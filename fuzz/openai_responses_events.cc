// Bytes of the Responses API, good and bad.
#include "dialect_events.h"
#include "model/openai_responses.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static const auto dialect = deputy::openai_responses_dialect();
  return deputy::fuzz_dialect(*dialect, {reinterpret_cast<const char*>(bytes), size});
}
