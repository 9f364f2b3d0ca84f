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

}  // namespace
}  // namespace deputy
