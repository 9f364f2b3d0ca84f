#include "app/output_lines.h"

#include <gmock/gmock.h>

namespace deputy {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string shown_of(std::string_view text, std::size_t piece, const Redactor& redactor) {
  OutputLines lines;
  std::string shown;
  for (std::size_t at = 0; at < text.size(); at += piece)
    shown += lines.take(text.substr(at, piece), redactor);
  return shown;
}

TEST(OutputLines, ShowsLinesWhenTheyAreWhole) {
  OutputLines lines;
  EXPECT_EQ(lines.take("one", {}), "");
  EXPECT_EQ(lines.take("\ntwo", {}), "one\n");
  EXPECT_EQ(lines.take("\n\nthree\n", {}), "two\n\nthree\n");
}

TEST(OutputLines, HideAPrivateKeyThatIsPrintedSlowly) {
  std::string key = "-----BEGIN OPENSSH PRIVATE KEY-----\n";
  for (int line = 0; line < 30; ++line) key += "BODYBODYBODY\n";
  const std::string text = "before\n" + key + "-----END OPENSSH PRIVATE KEY-----\nafter\n";
  for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, std::size_t{13}, text.size()})
    EXPECT_EQ(shown_of(text, piece, {}), "before\n[redacted]\nafter\n") << piece;
  EXPECT_EQ(shown_of("before\n" + key, 13, {}), "before\n") << "its end may still come";
}

TEST(OutputLines, HideAPrivateKeyThatIsLongerThanWhatIsHeld) {
  std::string text = "before\n-----BEGIN PRIVATE KEY-----\n";
  while (text.size() < 3 * OutputLines::kMostHeld) text += "BODYBODYBODY\n";
  text += "-----END PRIVATE KEY-----\nafter\n";
  for (const std::size_t piece : {std::size_t{1001}, std::size_t{4096}, text.size()}) {
    const std::string shown = shown_of(text, piece, {});
    EXPECT_THAT(shown, Not(HasSubstr("BODY"))) << piece;
    EXPECT_TRUE(shown.starts_with("before\n[redacted]") && shown.ends_with("[redacted]\nafter\n")) << shown;
  }
}

TEST(OutputLines, CutNoSecretInTwoWhereALineIsLongerThanWhatIsHeld) {
  Redactor redactor;
  redactor.hide("correct horse battery staple");
  for (std::size_t before = OutputLines::kMostHeld - 18; before < OutputLines::kMostHeld; before += 6) {
    for (const std::string_view secret : {"correct horse battery staple", "AKIAABCDEFGHIJKLMNOP"}) {
      OutputLines lines;
      const std::string text = std::string(before, ' ').append(secret);
      std::string shown = lines.take(text.substr(0, OutputLines::kMostHeld + 1), redactor);
      EXPECT_FALSE(shown.empty()) << before;
      shown += lines.take(text.substr(std::min(text.size(), OutputLines::kMostHeld + 1)), redactor);
      shown += lines.take(" .\n", redactor);
      ASSERT_EQ(shown, std::string(before, ' ') + "[redacted] .\n") << before;
    }
  }
}

TEST(OutputLines, HideASecretThatAnEncoderBreaksIntoLines) {
  Redactor redactor;
  redactor.hide("0123456789abcdef0123456789abcdef");
  const std::string hex =
      "3031323334353637383961626364\n6566303132333435363738396162\n63646566\nafter\nthat\n";
  EXPECT_EQ(shown_of(hex, 1, redactor), "[redacted]\nafter\nthat\n");
  EXPECT_EQ(shown_of(hex, 1, {}), hex) << "control";
}

TEST(OutputLines, HoldExactlyTheMost) {
  OutputLines lines;
  const std::string most(OutputLines::kMostHeld, ' ');
  EXPECT_EQ(lines.take(most, {}), "");
  EXPECT_EQ(lines.take(" ", {}), most + " ");
}

}  // namespace
}  // namespace deputy
