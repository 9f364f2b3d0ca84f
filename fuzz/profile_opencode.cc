// opencode's.
#include "delegation/profile_file.h"
#include "profile_text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  return deputy::read_as(deputy::ProfileFormat::opencode, bytes, size);
}
