// Bytes of Ollama's /api/chat, good and bad.
#include "dialect_events.h"
#include "model/ollama.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static const auto dialect = deputy::ollama_dialect();
  return deputy::fuzz_dialect(*dialect, {reinterpret_cast<const char*>(bytes), size});
}
