#include <boost/crc.hpp>

#include "base/digest.h"
#include "base/text.h"

namespace deputy {

std::uint32_t crc32(std::string_view bytes) {
  boost::crc_32_type crc;
  crc.process_bytes(bytes.data(), bytes.size());
  return crc.checksum();
}

std::string sha256_hex(std::string_view bytes) {
  Sha256 digest;
  digest.feed(bytes);
  return digest.hex();
}

}  // namespace deputy
