#include "base/digest.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace deputy {
namespace {

TEST(Sha256, OfPiecesIsThatOfTheWhole) {
  EXPECT_EQ(Sha256().hex(), sha256_hex(""));
  Sha256 digest;
  for (const char* piece : {"one ", "", "two"}) digest.feed(piece);
  EXPECT_EQ(digest.hex(), sha256_hex("one two"));
}

TEST(Crc32, OfPiecesIsThatOfTheWholeWhereverItIsCut) {
  const std::string whole = "The quick brown fox jumps over the lazy dog";
  for (std::size_t cut = 0; cut <= whole.size(); ++cut) {
    Crc32 crc;
    crc.feed(std::string_view(whole).substr(0, cut));
    crc.feed(std::string_view(whole).substr(cut));
    EXPECT_EQ(crc.value(), 0x414fa339u) << cut;
  }
}

TEST(Crc32, HasAValueForEveryByteAtEveryPlace) {
  const auto bit_by_bit = [](std::string_view bytes) {
    std::uint32_t crc = ~std::uint32_t{0};
    for (const char byte : bytes) {
      crc ^= static_cast<std::uint8_t>(byte);
      for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xedb88320u : 0u);
    }
    return ~crc;
  };
  for (int byte = 0; byte < 256; ++byte) {
    for (std::size_t at = 0; at < 17; ++at) {
      std::string bytes(17, 'a');
      bytes[at] = static_cast<char>(byte);
      EXPECT_EQ(crc32(bytes), bit_by_bit(bytes)) << byte << " at " << at;
    }
  }
}

}  // namespace
}  // namespace deputy
