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

}  // namespace
}  // namespace deputy
