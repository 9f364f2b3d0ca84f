// Whichever allocation of a parser of foreign bytes fails, over the corpora of the fuzzers: it ends in one
// outcome (what it had to say, or std::bad_alloc, which a run takes as its end), leaks nothing, and the next
// reading is as good as any.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <array>
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

TEST(AParserWithoutMemory, IsThatOfEachFuzzer) {
  std::set<std::string> tried;
  for (const ForeignParser& each : foreign_parsers())
    EXPECT_TRUE(tried.insert(each.corpus).second) << each.corpus << " is there twice";
  std::set<std::string> fuzzed;
  for (const auto& entry : fs::directory_iterator(fs::path(source_dir()) / "fuzz")) {
    if (entry.path().extension() == ".cc") fuzzed.insert(entry.path().stem());
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

  // Not where readings come to their end before the allocation that is to fail.
  bool is_refused_as_planned() const { return 10 * failed >= 9 * allocations; }
  void add(const Tried& other) {
    inputs += other.inputs;
    allocations += other.allocations;
    failed += other.failed;
    thrown += other.thrown;
  }
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

// One that allocates when it is counted, and not when it is to fail.
TEST(AParserWithoutMemory, IsNoneWhereNothingIsRefused) {
  const auto allocate = [] { ::operator delete(::operator new(64)); };
  Tried tried;
  try_all({"fickle",
           [allocate, calls = 0](std::string_view) mutable {
             if (++calls % 2 == 0) allocate();
             return '+';
           }},
          "", 1, tried);
  EXPECT_EQ(tried.allocations, 1);
  EXPECT_FALSE(tried.is_refused_as_planned());
  Tried steady;
  try_all({"steady",
           [allocate](std::string_view) {
             allocate();
             return '+';
           }},
          "", 1, steady);
  EXPECT_EQ(steady.thrown, 1);
  EXPECT_TRUE(steady.is_refused_as_planned());
}

// What it keeps of its corpus is so short that a string needs no memory for it.
constexpr std::array<std::string_view, 1> kAllocateNothing{"status_record"};

void expect_one_outcome(long stride) {
  Tried all;
  std::vector<std::string> idle;
  for (const ForeignParser& target : foreign_parsers()) {
    const auto inputs = corpus_of(target.corpus);
    ASSERT_FALSE(inputs.empty()) << target.corpus;
    Tried tried;
    for (const std::string& input : inputs) {
      try_all(target, input, stride, tried);
      if (testing::Test::HasFatalFailure()) return;
    }
    EXPECT_TRUE(tried.is_refused_as_planned())
        << target.corpus << ": only " << tried.failed << " of " << tried.allocations << " were refused";
    if (tried.allocations == 0) idle.push_back(target.corpus);
    all.add(tried);
  }
  EXPECT_THAT(idle, testing::ElementsAreArray(kAllocateNothing)) << "nothing is shown of these";
  EXPECT_GT(all.thrown, all.allocations / 2) << "hardly any has failed: this proves nothing";
  fmt::print("figures: {} parsers, {} inputs, {} allocations failed, {} of them thrown on\n",
             foreign_parsers().size(), all.inputs, all.failed, all.thrown);
}

TEST(AParserWithoutMemory, EndsInOneOutcome) { expect_one_outcome(7); }
TEST(AParserWithoutMemoryExhaustive, EndsInOneOutcomeWhicheverAllocationFails) { expect_one_outcome(1); }

}  // namespace
}  // namespace deputy
