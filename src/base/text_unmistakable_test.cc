#include <gtest/gtest.h>

#include "base/text.h"

namespace deputy {
namespace {

TEST(MadeUnmistakable, SpellsOutEverySpaceButTheCommonOne) {
  EXPECT_EQ(made_unmistakable("a b\n\tc"), "a b\n\tc");
  EXPECT_EQ(made_unmistakable("a\u00a0b\u2003c\u3000d\u2800e"), "a\\u{a0}b\\u{2003}c\\u{3000}d\\u{2800}e");
  EXPECT_EQ(made_unmistakable("\x1b[31m\x7f\r"), "␛[31m␡␍");
  EXPECT_EQ(made_unmistakable("\u202e\u200b\u2028\u0085\ufe0f"),
            "\\u{202e}\\u{200b}\\u{2028}\\u{85}\\u{fe0f}");
  EXPECT_EQ(made_unmistakable("Grüße 世界"), "Grüße 世界");
}

TEST(CaseFolded, MakesGenerousSpellingsOne) {
  EXPECT_EQ(case_folded(".GIT/Config"), ".git/config");
  EXPECT_EQ(case_folded(".g\u200cit"), ".git");
  EXPECT_EQ(case_folded("cafe\u0301"), case_folded("CAF\u00c9"));
  EXPECT_EQ(case_folded("ｅｘ"), "ex");
  EXPECT_EQ(case_folded(""), "");
  for (int byte = 0; byte < 0x80; ++byte) {
    const std::string ascii(1, static_cast<char>(byte));
    EXPECT_EQ(case_folded(ascii) + "\u00e9", case_folded(ascii + "\u00e9"))
        << byte << ": alone as beside others";
  }
  EXPECT_EQ(case_folded("A\xff"), "a\xff");
}

}  // namespace
}  // namespace deputy
