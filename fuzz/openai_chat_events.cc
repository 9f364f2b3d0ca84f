// Bytes of Chat Completions, good and bad.
#include "dialect_events.h"
#include "model/openai_chat.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static const auto compatible = deputy::openai_chat_dialect(deputy::ChatFlavour::compatible);
  static const auto openai = deputy::openai_chat_dialect(deputy::ChatFlavour::openai);
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  // Their streams and errors are read alike; what is sent of them is not.
  if (!deputy::is_chosen(size, 0, 5)) return deputy::fuzz_dialect(*compatible, text);
  (void)deputy::checked_turn(*openai, text);
  deputy::check_foreign_turn(*openai, text);
  return deputy::is_held_to_all ? deputy::fuzz_dialect(*compatible, text) : 0;
}
