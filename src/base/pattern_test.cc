#include "base/pattern.h"

#include <gtest/gtest.h>

#include <string>

namespace deputy {
namespace {

using Match = Pattern::Match;

Match search(std::string_view expression, std::string_view text) {
  const auto pattern = Pattern::compile(expression);
  EXPECT_TRUE(pattern) << pattern.error().message;
  return pattern->search(text);
}

TEST(Pattern, SearchesAnywhereUnlessAnchored) {
  EXPECT_EQ(search("b+", "abbc"), Match::yes);
  EXPECT_EQ(search("^b+$", "abbc"), Match::no);
  EXPECT_EQ(search("", ""), Match::yes);
}

TEST(Pattern, ReadsExpressionsAsEcmaScriptDoes) {
  EXPECT_EQ(search("^a$", "a\n"), Match::no);
  EXPECT_EQ(search("^\\u00e9$", "é"), Match::yes);
  EXPECT_EQ(search("^.$", "🙂"), Match::yes);
  EXPECT_EQ(search("^\\d$", "٣"), Match::no);
  EXPECT_EQ(search("[^]", "\n"), Match::yes);
}

TEST(Pattern, RefusesWhatItCannotCompile) {
  const auto pattern = Pattern::compile("a(b");
  ASSERT_FALSE(pattern);
  EXPECT_EQ(pattern.error().code, ErrorCode::invalid);
  EXPECT_NE(pattern.error().message.find("\"a(b\""), std::string::npos) << pattern.error().message;
  EXPECT_FALSE(Pattern::compile("\\C"));
  EXPECT_FALSE(Pattern::compile("\xff"));
}

TEST(Pattern, HasALargestSize) {
  EXPECT_TRUE(Pattern::compile(std::string(Pattern::kMaxBytes, 'a')));
  EXPECT_FALSE(Pattern::compile(std::string(Pattern::kMaxBytes + 1, 'a')));
  EXPECT_FALSE(Pattern::compile(std::string(2000, '(') + std::string(2000, ')')));
}

TEST(Pattern, GivesUpInsteadOfTakingForEver) {
  EXPECT_EQ(search("^(a+)+$", std::string(40, 'a') + "b"), Match::gave_up);
  EXPECT_EQ(search("^(a|aa)+$", std::string(100, 'a') + "b"), Match::gave_up);
}

TEST(Pattern, SurvivesLongTexts) {
  EXPECT_EQ(search("^[a-z]+$", std::string(1'000'000, 'a')), Match::yes);
  EXPECT_NE(search("^(a|b)*$", std::string(1'000'000, 'a')), Match::no);
}

TEST(Pattern, GivesUpOnTextThatIsNotUtf8) { EXPECT_EQ(search("a", "a\xff"), Match::gave_up); }

}  // namespace
}  // namespace deputy
