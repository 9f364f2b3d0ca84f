#include "base/digest.h"
#include "base/text.h"

namespace deputy {

std::uint32_t crc32(std::string_view bytes) {
  Crc32 crc;
  crc.feed(bytes);
  return crc.value();
}

std::string sha256_hex(std::string_view bytes) {
  Sha256 digest;
  digest.feed(bytes);
  return digest.hex();
}

}  // namespace deputy
