#include "app/failure.h"

#include <gtest/gtest.h>

namespace deputy {
namespace {

TEST(ErrorLine, JoinsASentenceAndItsAdviceAsOne) {
  EXPECT_EQ(error_line({ErrorCode::invalid, "It is wrong.", "mend it"}), "deputy: It is wrong; mend it");
  EXPECT_EQ(error_line({ErrorCode::invalid, "it is wrong", "mend it"}), "deputy: it is wrong; mend it");
  EXPECT_EQ(error_line({ErrorCode::invalid, "It is wrong.", ""}), "deputy: It is wrong.");
}

TEST(AsTyped, EveryCommandLineOfDeputyNamesTheStateFolderOnce) {
  EXPECT_EQ(as_typed("run `deputy resume a`, or `deputy sessions ls`; not `git log`", "deputy", "/h"),
            "run `deputy resume a --home /h`, or `deputy sessions ls --home /h`; not `git log`");
  EXPECT_EQ(as_typed("`deputy`", "deputy", "'/a b'"), "`deputy --home '/a b'`");
  EXPECT_EQ(as_typed("`deputy resume a --home /x`", "deputy", "/h"), "`deputy resume a --home /x`");
  EXPECT_EQ(as_typed("`deputy-init` is no command line, and `deputy is not closed", "./run", "/h"),
            "`deputy-init` is no command line, and `deputy is not closed");
  EXPECT_EQ(as_typed("", "deputy", "/h"), "");
}

TEST(AsTyped, EveryCommandLineOfDeputyBeginsAsThePersonBegan) {
  EXPECT_EQ(as_typed("run `deputy resume a`, or `deputy chat`", "./run", ""),
            "run `./run resume a`, or `./run chat`");
  const std::string once = as_typed("`deputy resume a`", "'/a b/deputy'", "/h");
  EXPECT_EQ(once, "`'/a b/deputy' resume a --home /h`");
  EXPECT_EQ(as_typed(once, "'/a b/deputy'", "/h"), once) << "to say it twice changes nothing";
}

TEST(HelpAsTyped, BeginsItsCommandLinesAsThePersonBegan) {
  EXPECT_EQ(help_as_typed(
                "deputy hands work on.\nUsage: deputy run [OPTIONS]\n\nExample:\n  deputy manual | man -l "
                "-\n  deputys\nsee `deputy --help`",
                "./run"),
            "deputy hands work on.\nUsage: ./run run [OPTIONS]\n\nExample:\n  ./run manual | man -l -\n  "
            "deputys\nsee `./run --help`");
  EXPECT_EQ(help_as_typed("", "./run"), "");
  EXPECT_EQ(help_as_typed("a\n\n  deputy \n", "./run"), "a\n\n  ./run \n");
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
