// Whichever allocation of a parser of foreign bytes fails, over the corpora of the fuzzers: it ends in one
// outcome (what it had to say, or std::bad_alloc, which a run takes as its end), leaks nothing, and the next
// reading is as good as any.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <new>
#include <set>

#include "failing_memory.h"
#include "foreign_parsers.h"
#include "support/paths.h"

namespace deputy {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kMostBytes = 8 * 1024;  // of an input: each is read once for each of its allocations

TEST(AParserWithoutMemory, IsThatOfEachFuzzerButOfTheNamedOnes) {
  std::set<std::string> tried;
  for (const ForeignParser& each : foreign_parsers())
    EXPECT_TRUE(tried.insert(each.corpus).second) << each.corpus << " is there twice";
  std::set<std::string> fuzzed;
  for (const auto& entry : fs::directory_iterator(fs::path(source_dir()) / "fuzz")) {
    const std::string name = entry.path().stem();
    if (entry.path().extension() == ".cc" && !std::ranges::count(kParsersOfToml, name)) fuzzed.insert(name);
  }
  EXPECT_EQ(tried, fuzzed);
}

std::vector<std::string> corpus_of(const std::string& name) {
  std::vector<std::string> inputs;
  for (const auto& entry : fs::directory_iterator(fs::path(source_dir()) / "fuzz/corpus" / name)) {
    if (entry.file_size() > kMostBytes) continue;
    std::ifstream file(entry.path(), std::ios::binary);
    inputs.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return inputs;
}

struct Tried {
  long inputs = 0;
  long allocations = 0;
  long failed = 0;  // of these, that were refused indeed
  long thrown = 0;
};

void try_all(const ForeignParser& target, const std::string& input, long stride, Tried& tried) {
  target.parse(input);  // what is made once for all is made here
  long allocations = 0;
  char whole = 0;
  {
    const memory::Count count(0);
    whole = target.parse(input);
    allocations = memory::counted;
  }
  for (long failing = 1; failing <= allocations; failing += stride) {
    try {
      const memory::Count count(failing);
      target.parse(input);
    } catch (const std::bad_alloc&) {
      ++tried.thrown;
    }
    ++tried.allocations;
    tried.failed += memory::has_failed ? 1 : 0;
    ASSERT_EQ(target.parse(input), whole)
        << target.corpus << ", after allocation " << failing << " of " << allocations;
  }
  ++tried.inputs;
}

void expect_one_outcome(long stride) {
  Tried tried;
  for (const ForeignParser& target : foreign_parsers()) {
    const auto inputs = corpus_of(target.corpus);
    ASSERT_FALSE(inputs.empty()) << target.corpus;
    for (const std::string& input : inputs) {
      try_all(target, input, stride, tried);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
  EXPECT_GT(tried.failed, tried.allocations * 9 / 10)
      << "a reading came to its end before the one that fails";
  EXPECT_GT(tried.thrown, tried.allocations / 2) << "hardly any has failed: this proves nothing";
  fmt::print("figures: {} parsers, {} inputs, {} allocations failed, {} of them thrown on\n",
             foreign_parsers().size(), tried.inputs, tried.allocations, tried.thrown);
}

TEST(AParserWithoutMemory, EndsInOneOutcome) { expect_one_outcome(7); }
TEST(AParserWithoutMemoryExhaustive, EndsInOneOutcomeWhicheverAllocationFails) { expect_one_outcome(1); }

}  // namespace
}  // namespace deputy
