#include "tools/exact_edit.h"

#include <gmock/gmock.h>

namespace deputy {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr auto kAll = ExactEdit::Which::all;

std::string edited(std::string_view content, const ExactEdit& edit) {
  const auto result = apply_edit(content, edit, "f");
  EXPECT_TRUE(result) << result.error();
  return result ? result->content : "";
}

std::string refused(std::string_view content, const ExactEdit& edit) {
  const auto result = apply_edit(content, edit, "f");
  EXPECT_FALSE(result);
  return result ? "" : result.error();
}

TEST(ExactEdit, ReplacesTheOnlyOccurrence) {
  const auto result = apply_edit("one\ntwo\nthree\n", {"two", "2"}, "f").value();
  EXPECT_EQ(result.content, "one\n2\nthree\n");
  EXPECT_EQ(result.where, "line 2");
  EXPECT_EQ(edited("a\nb\n", {"a\nb", ""}), "\n");
}

TEST(ExactEdit, SeveralAreRefusedWithTheirLinesUnlessAllAreMeant) {
  EXPECT_THAT(refused("x\nx\n\nx\n", {"x", "y"}),
              AllOf(HasSubstr("occurs 3 times in f, at lines 1, 2 and 4"), HasSubstr("replace_all")));
  const auto all = apply_edit("x\nx\n\nx\n", {"x", "yy", kAll}, "f").value();
  EXPECT_EQ(all.content, "yy\nyy\n\nyy\n");
  EXPECT_EQ(all.where, "lines 1, 2 and 4");
}

TEST(ExactEdit, OverlappingOccurrencesAreSeveral) {
  EXPECT_THAT(refused("aaa", {"aa", "b"}), HasSubstr("occurs 2 times"));
  EXPECT_EQ(edited("aaa", {"aa", "b", kAll}), "ba");
}

TEST(ExactEdit, ManyOccurrencesAreNotAllListed) {
  std::string content;
  for (int i = 0; i < 2000; ++i) content += "x\n";
  EXPECT_THAT(refused(content, {"x", "y"}), AllOf(HasSubstr("7, 8 and "), Not(HasSubstr(", 9"))));
}

TEST(ExactEdit, KeepsLineEndsOfTheFile) {
  EXPECT_EQ(edited("a\r\nb\r\nc\r\n", {"a\nb", "x\ny\nz"}), "x\r\ny\r\nz\r\nc\r\n");
  EXPECT_EQ(edited("a\r\nb\r\n", {"b", "b\nc"}), "a\r\nb\r\nc\r\n");
  EXPECT_EQ(edited("a\r\nb\r\n", {"a\r\nb", "x\r\ny"}), "x\r\ny\r\n");
  EXPECT_EQ(edited("a\nb\n", {"b", "b\nc"}), "a\nb\nc\n");
}

TEST(ExactEdit, FilesWithBothLineEndsKeepThemWhereTheyAre) {
  EXPECT_EQ(edited("a\r\nb\nc\n", {"b\nc", "x\ny"}), "a\r\nx\ny\n");
  EXPECT_EQ(edited("a\r\nb\r\nc\n", {"a\nb", "x\ny"}), "x\r\ny\r\nc\n");
}

TEST(ExactEdit, KeepsBytesThatAreNotText) {
  EXPECT_EQ(edited("\xef\xbb\xbf"
                   "caf\xe9 one\n",
                   {"one", "zwei"}),
            "\xef\xbb\xbf"
            "caf\xe9 zwei\n");
}

TEST(ExactEdit, SaysWhereItNearlyIs) {
  const std::string content = "int first() { return 1; }\nint second() { return 2; }\n";
  EXPECT_THAT(refused(content, {"int secnd() { return 2; }", "x"}),
              AllOf(HasSubstr("does not occur in f"),
                    HasSubstr("The nearest is line 2: int second() { return 2; }")));
  EXPECT_THAT(refused(content, {"quite another thing altogether", "x"}),
              AllOf(HasSubstr("does not occur"), Not(HasSubstr("nearest"))));
}

TEST(ExactEdit, SaysWhereOnlyWhiteSpaceDiffers) {
  EXPECT_THAT(refused("if (a) {\n\tb();\n}\n", {"if (a) {\n    b();\n}", "x"}),
              AllOf(HasSubstr("White space differs. From line 1 on"), HasSubstr("\tb();")));
}

TEST(ExactEdit, KnowsTheUsualMistakes) {
  EXPECT_THAT(refused("one\ntwo\n", {"     1\tone\n     2\ttwo", "x"}), HasSubstr("line numbers"));
  EXPECT_THAT(refused("key = abc\n", {"key = [redacted]", "x"}), HasSubstr("hidden"));
  EXPECT_THAT(refused("a", {"a", "a"}), HasSubstr("the same"));
}

}  // namespace
}  // namespace deputy
