#include "app/rule_writer.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <thread>

#include "support/temp_folder.h"

namespace deputy {
namespace {

// Each opens the folder by itself, as two processes do.
TEST(RuleWriter, LosesNoRuleOfSeveralWhoWriteAtOnce) {
  constexpr int kWriters = 4;
  constexpr int kRules = 10;
  const TempFolder root;
  const std::string path = root.file("config/config.toml");
  std::vector<std::jthread> writers;
  for (int writer = 0; writer < kWriters; ++writer) {
    writers.emplace_back([&path, writer] {
      for (int count = 0; count < kRules; ++count) {
        const auto rule = parse_rule(Decision::allow, fmt::format("Bash(echo {}_{})", writer, count)).value();
        EXPECT_TRUE(add_rule(SystemDisk(), path, rule));
      }
    });
  }
  writers.clear();
  std::ifstream in(path);
  const std::string text(std::istreambuf_iterator<char>(in), {});
  for (int writer = 0; writer < kWriters; ++writer) {
    for (int count = 0; count < kRules; ++count)
      EXPECT_TRUE(text.contains(fmt::format("\"Bash(echo {}_{})\"", writer, count))) << text;
  }
}

}  // namespace
}  // namespace deputy
