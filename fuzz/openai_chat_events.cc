// Bytes of Chat Completions, good and bad.
#include "dialect_events.h"
#include "model/openai_chat.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static const auto compatible = deputy::openai_chat_dialect(deputy::ChatFlavour::compatible);
  static const auto openai = deputy::openai_chat_dialect(deputy::ChatFlavour::openai);
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  (void)deputy::checked_turns(*openai, text);  // their streams and errors are read alike
  return deputy::fuzz_dialect(*compatible, text);
}
