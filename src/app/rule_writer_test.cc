#include "app/rule_writer.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <thread>

#include "app/turn.h"
#include "support/run.h"
#include "support/temp_folder.h"

namespace deputy {
namespace {

class RuleWriter : public testing::Test {
 protected:
  std::string path() const { return root_.file("config/config.toml"); }
  std::string text() const {
    std::ifstream in(path());
    return {std::istreambuf_iterator<char>(in), {}};
  }

 private:
  TempFolder root_;
};

Rule echo_rule(int writer, int count) {
  return parse_rule(Decision::allow, fmt::format("Bash(echo {}_{})", writer, count)).value();
}

// Each opens the folder by itself, as two processes do.
TEST_F(RuleWriter, LosesNoRuleOfSeveralWhoWriteAtOnce) {
  constexpr int kWriters = 4;
  constexpr int kRules = 10;
  std::vector<std::jthread> writers;
  for (int writer = 0; writer < kWriters; ++writer) {
    writers.emplace_back([this, writer] {
      SystemLoop loop;
      InlinePool pool;
      SystemDisk disk;
      for (int count = 0; count < kRules; ++count)
        EXPECT_TRUE(run(loop, add_rule(loop, pool, disk, path(), echo_rule(writer, count), {})));
    });
  }
  writers.clear();
  const std::string all = text();
  for (int writer = 0; writer < kWriters; ++writer) {
    for (int count = 0; count < kRules; ++count)
      EXPECT_TRUE(all.contains(fmt::format("\"Bash(echo {}_{})\"", writer, count))) << all;
  }
}

TEST_F(RuleWriter, WaitsForItsTurnAndNotForever) {
  SimLoop loop(1);
  InlinePool pool;
  SystemDisk disk;
  ASSERT_TRUE(run(loop, add_rule(loop, pool, disk, path(), echo_rule(0, 0), {})));
  auto other = FolderHold::alone(*disk.open(path().substr(0, path().rfind('/')), IfAbsent::fail).value());
  ASSERT_TRUE(other);
  const TimePoint begun = loop.clock().now();
  const auto refused = run(loop, add_rule(loop, pool, disk, path(), echo_rule(0, 1), {}));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::busy);
  EXPECT_FALSE(refused.error().advice.empty());
  EXPECT_GE(loop.clock().now() - begun, kLongestTurn);
  EXPECT_FALSE(text().contains("echo 0_1"));

  const StopSource stop;
  stop.request(StopReason::shutdown);
  const auto stopped = run(loop, add_rule(loop, pool, disk, path(), echo_rule(0, 1), stop.token()));
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, ErrorCode::cancelled);

  loop.timers().call_at(loop.clock().now() + kLongestTurn - std::chrono::seconds(1),
                        [&other] { other.reset(); });
  EXPECT_TRUE(run(loop, add_rule(loop, pool, disk, path(), echo_rule(0, 1), {})));
  EXPECT_TRUE(text().contains("echo 0_1"));
}

}  // namespace
}  // namespace deputy
