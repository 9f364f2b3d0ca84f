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

TEST(FailureJson, SaysTheStatusTheCodeTheMessageAndWhatToDo) {
  const CommandFailure refused({ErrorCode::exhausted, "no room", "raise --max-live"}, ExitStatus::refused);
  EXPECT_EQ(
      to_json_text(to_json(refused)),
      R"({"status":"refused","error":{"code":"exhausted","message":"no room","hint":"raise --max-live"}})");
  const CommandFailure failed(Error{ErrorCode::io, "not \xff UTF-8", ""});
  EXPECT_EQ(string_or(to_json(failed), "status", ""), "failed");
  EXPECT_TRUE(parse_json(to_json_text(to_json(failed))));
  EXPECT_FALSE(to_json(failed).at("error").as_object().contains("hint")) << "there is none";
}

}  // namespace
}  // namespace deputy
