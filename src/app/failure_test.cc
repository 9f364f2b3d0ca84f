#include "app/failure.h"

#include <gtest/gtest.h>

namespace deputy {
namespace {

TEST(ErrorLine, JoinsASentenceAndItsAdviceAsOne) {
  EXPECT_EQ(error_line({ErrorCode::invalid, "It is wrong.", "mend it"}), "deputy: It is wrong; mend it");
  EXPECT_EQ(error_line({ErrorCode::invalid, "it is wrong", "mend it"}), "deputy: it is wrong; mend it");
  EXPECT_EQ(error_line({ErrorCode::invalid, "It is wrong.", ""}), "deputy: It is wrong.");
}

TEST(WithHome, EveryCommandLineOfDeputyNamesTheStateFolderOnce) {
  EXPECT_EQ(with_home("run `deputy resume a`, or `deputy sessions ls`; not `git log`", "/h"),
            "run `deputy resume a --home /h`, or `deputy sessions ls --home /h`; not `git log`");
  EXPECT_EQ(with_home("`deputy`", "'/a b'"), "`deputy --home '/a b'`");
  EXPECT_EQ(with_home("`deputy resume a --home /x`", "/h"), "`deputy resume a --home /x`");
  EXPECT_EQ(with_home("`deputy-init` is no command line, and `deputy is not closed", "/h"),
            "`deputy-init` is no command line, and `deputy is not closed");
  EXPECT_EQ(with_home("", "/h"), "");
}

}  // namespace
}  // namespace deputy
