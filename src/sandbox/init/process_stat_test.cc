#include "sandbox/init/process_stat.h"

#include <string>

#include "gtest/gtest.h"

namespace deputy::init {
namespace {

const std::string kAfterName = " S 7 42 42 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 123456 9 10\n";

TEST(ProcessStat, AProcessIsItselfWhateverItCallsItself) {
  for (const std::string name : {"bash", "a b", ") S 1 1 1 1", "(", "))", "", "\n"}) {
    ProcessStat process{};
    ASSERT_TRUE(read_process_stat(("42 (" + name + ")" + kAfterName).c_str(), process)) << name;
    EXPECT_EQ(process.pid, 42) << name;
    EXPECT_EQ(process.parent, 7) << name;
    EXPECT_EQ(process.started, 123456u) << name;
  }
}

TEST(ProcessStat, ALineWithoutAStartIsNone) {
  ProcessStat process{};
  const std::string whole = "42 (bash)" + kAfterName;
  EXPECT_FALSE(read_process_stat("", process));
  EXPECT_FALSE(read_process_stat("42 bash S 7", process));
  EXPECT_FALSE(read_process_stat(whole.substr(0, whole.find("123456")).c_str(), process));
}

}  // namespace
}  // namespace deputy::init
