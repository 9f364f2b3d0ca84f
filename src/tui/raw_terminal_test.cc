#include "tui/raw_terminal.h"

#include "support/pseudo_terminal.h"

namespace deputy {
namespace {

bool is_cooked(const PseudoTerminal& terminal) {
  termios mode{};
  EXPECT_EQ(::tcgetattr(terminal.program(), &mode), 0);
  return (mode.c_lflag & ICANON) != 0;
}

TEST(RawTerminal, IsLeftAndEnteredAgainWhereItTakesNothing) {
  const PseudoTerminal terminal;
  const auto raw = RawTerminal::take(terminal.program(), terminal.program());
  ASSERT_TRUE(raw);
  EXPECT_FALSE(is_cooked(terminal));
  terminal.stop();
  ::alarm(60);  // rather than for ever
  raw->restore();
  EXPECT_TRUE(is_cooked(terminal));
  raw->enter();
  EXPECT_FALSE(is_cooked(terminal));
  ::alarm(0);
  terminal.go_on();
}

TEST(RawTerminal, WhoseKeysAreLeftMakesCtrlCASignalAndNothingElse) {
  const PseudoTerminal terminal;
  const auto raw = RawTerminal::take(terminal.program(), terminal.program());
  ASSERT_TRUE(raw);
  terminal.type("\x03");
  char key = 0;
  EXPECT_EQ(::read(terminal.program(), &key, 1), 1) << "control: until then it is a key";
  raw->leave_keys();
  terminal.type("\x03\x1a\x1cl");
  std::string keys(8, ' ');
  ::alarm(60);  // rather than for ever
  std::size_t count = 0;
  while (count < 3) count += static_cast<std::size_t>(::read(terminal.program(), &keys[count], 3 - count));
  ::alarm(0);
  EXPECT_EQ(keys.substr(0, count), "\x1a\x1cl") << "what others typed is theirs to read";
  EXPECT_FALSE(is_cooked(terminal));
}

}  // namespace
}  // namespace deputy
