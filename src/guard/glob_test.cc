#include "guard/glob.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace deputy {
namespace {

using testing::HasSubstr;

bool matches(std::string_view pattern, std::string_view path) {
  const auto glob = Glob::compile(pattern);
  EXPECT_TRUE(glob) << pattern;
  return glob && glob->matches(path);
}

TEST(Glob, StarStaysWithinOneName) {
  EXPECT_TRUE(matches("*.cc", "a.cc"));
  EXPECT_TRUE(matches("*.cc", ".cc"));
  EXPECT_FALSE(matches("*.cc", "src/a.cc"));
  EXPECT_TRUE(matches("src/*/x", "src/a/x"));
  EXPECT_FALSE(matches("src/*/x", "src/a/b/x"));
  EXPECT_TRUE(matches("a*b*c", "axxbyyc"));
}

TEST(Glob, TwoStarsCrossFolders) {
  EXPECT_TRUE(matches("**/.env", ".env"));
  EXPECT_TRUE(matches("**/.env", "a/b/.env"));
  EXPECT_FALSE(matches("**/.env", "a/b.env"));
  EXPECT_TRUE(matches("src/**/x.cc", "src/x.cc"));
  EXPECT_TRUE(matches("src/**/x.cc", "src/a/b/x.cc"));
  EXPECT_FALSE(matches("src/**/x.cc", "src/ax.cc"));
  EXPECT_TRUE(matches("**", "a/b"));
  EXPECT_TRUE(matches("**.env", "a/b.env"));
  EXPECT_TRUE(matches("**/**/a", "x/a"));
}

TEST(Glob, AFolderMeansItselfAndAllBeneath) {
  for (const char* pattern : {"src/**", "src/", "./src/"}) {
    EXPECT_TRUE(matches(pattern, "src")) << pattern;
    EXPECT_TRUE(matches(pattern, "src/a/b")) << pattern;
    EXPECT_FALSE(matches(pattern, "srcs/a")) << pattern;
    EXPECT_FALSE(matches(pattern, "a/src/b")) << pattern;
  }
}

TEST(Glob, TellsWhenAFolderAboveMatches) {
  const auto glob = Glob::compile("*/secrets");
  EXPECT_EQ(glob->match("a/secrets"), GlobMatch::whole);
  EXPECT_EQ(glob->match("a/secrets/b/c"), GlobMatch::above);
  EXPECT_EQ(glob->match("a/secret/b"), GlobMatch::none);
}

TEST(Glob, MatchesTheEndOfAPathWhoseRootIsUnknown) {
  const auto glob = Glob::compile("src/*.cc");
  EXPECT_TRUE(glob->may_match_end_of("home/me/src/a.cc"));
  EXPECT_TRUE(glob->may_match_end_of("src/a.cc"));
  EXPECT_FALSE(glob->may_match_end_of("home/mysrc/a.cc"));
}

TEST(Glob, OneCharacterIsACodePoint) {
  EXPECT_TRUE(matches("?", "é"));
  EXPECT_FALSE(matches("?", "ab"));
  EXPECT_FALSE(matches("a?b", "a/b"));
  EXPECT_TRUE(matches("[à-ü]", "é"));
  EXPECT_TRUE(matches("a?", "a\xff"));
}

TEST(Glob, SetsAndBraces) {
  EXPECT_TRUE(matches("[a-c]x", "bx"));
  EXPECT_FALSE(matches("[!a-c]x", "bx"));
  EXPECT_TRUE(matches("[]]", "]"));
  EXPECT_TRUE(matches("[a\\]]", "]"));
  EXPECT_FALSE(matches("a[!x]b", "a/b"));
  EXPECT_TRUE(matches("**/*.{ts,tsx}", "a/b.tsx"));
  EXPECT_FALSE(matches("**/*.{ts,tsx}", "a/b.js"));
  EXPECT_TRUE(matches("{a,b{c,d}}/", "bd/x"));
  EXPECT_TRUE(matches(".env{,.local}", ".env"));
  EXPECT_TRUE(matches("[,{]x", "{x"));
}

TEST(Glob, ABackslashTakesTheNextCharacterAsItIs) {
  EXPECT_TRUE(matches("app/\\[id\\]/x", "app/[id]/x"));
  EXPECT_TRUE(matches("\\*", "*"));
  EXPECT_FALSE(matches("\\*", "a"));
  EXPECT_TRUE(matches("\\{a\\}", "{a}"));
}

TEST(Glob, SaysWhatIsWrongWithAPattern) {
  EXPECT_THAT(Glob::compile("").error().message, HasSubstr("empty"));
  EXPECT_THAT(Glob::compile("a[b").error().message, HasSubstr("[ without ]"));
  EXPECT_THAT(Glob::compile("a{b,c").error().message, HasSubstr("{ without }"));
  EXPECT_THAT(Glob::compile("[z-a]").error().message, HasSubstr("backwards"));
}

TEST(Glob, TakesPatternsUpToItsLimits) {
  EXPECT_TRUE(Glob::compile(std::string(Glob::kMaxBytes, 'a')));
  EXPECT_FALSE(Glob::compile(std::string(Glob::kMaxBytes + 1, 'a')));
  EXPECT_EQ(Glob::compile("{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}")->alternatives().size(), Glob::kMaxAlternatives);
  EXPECT_FALSE(Glob::compile("{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}"));
  EXPECT_TRUE(Glob::compile("{a,b,c,d}" + std::string(Glob::kMaxWrittenOut / 4 - 10, 'a')));
  EXPECT_FALSE(Glob::compile("{a,b,c,d,e}" + std::string(Glob::kMaxWrittenOut / 5, 'a')));
}

TEST(Glob, NoPatternMakesItSlow) {
  std::string pattern;
  while (pattern.size() + 5 < Glob::kMaxBytes) pattern += "**/*a";
  EXPECT_FALSE(matches(pattern, std::string(2000, 'a') + "/" + std::string(2000, 'b')));
  EXPECT_FALSE(matches(std::string(500, '*') + "b", std::string(4000, 'a')));
}

}  // namespace
}  // namespace deputy
