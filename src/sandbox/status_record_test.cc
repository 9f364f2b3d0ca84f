#include "sandbox/status_record.h"

#include "gtest/gtest.h"

namespace deputy {
namespace {

TEST(StatusRecord, TellsANormalEnd) {
  const auto record = parse_status("confined 1 7\nended exit 3\n");
  EXPECT_EQ(record.level, SandboxLevel::restricted);
  EXPECT_EQ(record.exit_status, 3);
  EXPECT_FALSE(record.refused);
  EXPECT_FALSE(record.unstarted);
  EXPECT_FALSE(record.timed_out);
}

TEST(StatusRecord, TellsHowFarItCame) {
  EXPECT_FALSE(parse_status("").began);
  EXPECT_TRUE(parse_status("inside\n").began);
  EXPECT_FALSE(parse_status("inside\n").confined);
  EXPECT_TRUE(parse_status("confined 0 0\n").confined);
  EXPECT_EQ(parse_status("inside\nconfined 2 7\n").level, SandboxLevel::isolated);
  EXPECT_EQ(parse_status("inside\nconfined 3 7\n").level, SandboxLevel::metered);
  EXPECT_EQ(parse_status("confined 99 7\n").level, SandboxLevel::metered);
  EXPECT_EQ(parse_status("confined -1 7\n").level, SandboxLevel::none);
}

TEST(StatusRecord, TellsWhatWasUsed) {
  const auto use = parse_status("confined 1 7\nused 1500000 2048\nended exit 0\n").use;
  ASSERT_TRUE(use);
  EXPECT_EQ(use->cpu, std::chrono::milliseconds(1500));
  EXPECT_EQ(use->memory, 2 << 20);
  for (const char* wrong : {"used\n", "used 1\n", "used 1 \n", "used x 1\n", "used -1 1\n", "used 1 -1\n",
                            "used 99999999999999999999 1\n", "used 1 1125899906842625\n"})
    EXPECT_FALSE(parse_status(wrong).use) << wrong;
  EXPECT_TRUE(parse_status("used 1 1125899906842624\n").use) << "the most there may be";
}

TEST(StatusRecord, TellsASignalAndATimeout) {
  const auto record = parse_status("confined 0 0\ntimeout\nended signal 9\n");
  EXPECT_EQ(record.level, SandboxLevel::none);
  EXPECT_EQ(record.exit_status, 137);
  EXPECT_TRUE(record.timed_out);
}

TEST(StatusRecord, TakesNoSignalThatThereCannotBe) {
  EXPECT_EQ(parse_status("ended signal 127\n").exit_status, 255);
  EXPECT_EQ(parse_status("ended signal 128\n").exit_status, 255);
  EXPECT_EQ(parse_status("ended signal 2147483647\n").exit_status, 255);
  EXPECT_EQ(parse_status("ended signal -1\n").exit_status, 128);
}

TEST(StatusRecord, TellsWhyNothingWasStarted) {
  EXPECT_EQ(parse_status("refused Landlock: not available\nended exit 125\n").refused,
            "Landlock: not available");
  EXPECT_EQ(parse_status("confined 1 7\nunstarted 2\nended exit 127\n").unstarted, 2);
}

TEST(StatusRecord, LeavesOutWhatItDoesNotUnderstand) {
  for (const auto* text : {"", "\n\n", "ended", "ended exit", "ended exit x", "ended early 3", "unstarted\n",
                           "timeouts\n", "confinedly 1"}) {
    const auto record = parse_status(text);
    EXPECT_FALSE(record.exit_status || record.refused || record.unstarted || record.timed_out) << text;
    EXPECT_EQ(record.level, SandboxLevel::none) << text;
  }
}

}  // namespace
}  // namespace deputy
