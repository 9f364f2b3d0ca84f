// What a command prints without end, on a real disk and in a real sandbox: the model gets the beginning and
// the end, and deputy stays small.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <fstream>

#include "tools/bash.h"
#include "tools/real_bench.h"

namespace deputy {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

Task<std::optional<std::string>> kept_at(std::string path) { co_return path; }

// In KiB, the most of it since the last reset_peak().
long peak_memory() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::stol(line.substr(6));
  }
  return 0;
}
bool reset_peak() { return static_cast<bool>(std::ofstream("/proc/self/clear_refs") << "5" << std::flush); }

// In KiB. The address sanitizer alone holds 256 MiB of what was freed.
constexpr long kMostGrowth = 384L * 1024;

class EndlessOutputLong : public RealBench {
 protected:
  EndlessOutputLong() {
    keep = [this](std::string name, std::string text) {
      kept = std::move(text);
      return kept_at("/state/" + name);
    };
  }
  // What the model is told, while memory grows by no more than a fraction of what is printed.
  std::string said(std::string_view script) {
    std::ofstream(temp.file("ws/print.sh")) << script;
    EXPECT_TRUE(reset_peak());
    const long before = peak_memory();
    const auto told =
        call({std::make_shared<BashTool>(background, BashPolicy{.least = SandboxLevel::restricted})}, "Bash",
             {{"command", "sh print.sh"}, {"timeout", 600'000}}, {{Decision::allow, "Bash", ""}});
    const long growth = peak_memory() - before;
    RecordProperty("kibibytes", static_cast<int>(growth));
    EXPECT_LT(growth, kMostGrowth) << script;
    EXPECT_EQ(told.status, ToolStatus::ok) << told.content;
    EXPECT_LE(told.content.size(), std::size_t{33} * 1024);
    return told.content;
  }

  BackgroundCommands background{loop};
  std::string kept;
};

TEST_F(EndlessOutputLong, FourGigabytes) {
  const auto told = said("echo begin; head -c 4294967296 /dev/zero | tr '\\0' x; echo; echo end");
  EXPECT_THAT(told, StartsWith("begin\nxxx"));
  EXPECT_THAT(told, HasSubstr("xxx\nend\n"));
  EXPECT_THAT(told,
              HasSubstr("[4,294,967,307 bytes were printed; the first 8,388,608 of them are in /state/"));
  EXPECT_EQ(kept.size(), std::size_t{8} << 20);
}

TEST_F(EndlessOutputLong, TenMillionLines) {
  const auto told = said("seq 10000000");
  EXPECT_THAT(told, StartsWith("1\n2\n3\n"));
  EXPECT_THAT(told, HasSubstr("\n9999999\n10000000\n"));
}

TEST_F(EndlessOutputLong, OneLineOfAGigabyte) {
  const auto told = said("printf begin; head -c 1073741824 /dev/zero | tr '\\0' x; printf end");
  EXPECT_THAT(told, StartsWith("beginxxx"));
  EXPECT_THAT(told, HasSubstr("xxxend\n"));
}

}  // namespace
}  // namespace deputy
