#include "app/failure.h"

#include <gtest/gtest.h>

namespace deputy {
namespace {

TEST(ErrorLine, JoinsASentenceAndItsAdviceAsOne) {
  EXPECT_EQ(error_line({ErrorCode::invalid, "It is wrong.", "mend it"}), "deputy: It is wrong; mend it");
  EXPECT_EQ(error_line({ErrorCode::invalid, "it is wrong", "mend it"}), "deputy: it is wrong; mend it");
  EXPECT_EQ(error_line({ErrorCode::invalid, "It is wrong.", ""}), "deputy: It is wrong.");
}

}  // namespace
}  // namespace deputy
