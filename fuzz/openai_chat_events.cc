// Bytes of Chat Completions, good and bad.
#include "dialect_events.h"
#include "model/openai_chat.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static const auto dialect = deputy::openai_chat_dialect(deputy::ChatFlavour::compatible);
  return deputy::fuzz_dialect(*dialect, {reinterpret_cast<const char*>(bytes), size});
}
