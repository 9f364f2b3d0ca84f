// Any tree, over seeds. The seed of a failure repeats it, and prints its journal: DEPUTY_SIM_SEED=SEED.
#include "any_tree.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sanitizer/common_interface_defs.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>

#include "base/environment.h"

namespace deputy {
namespace {

// Said also where the process dies of a seed: by a sanitizer, an abort, or because it takes for ever.
volatile std::uint64_t growing = 0;
constexpr unsigned kMostSeconds = 120;  // of a seed: one takes a few milliseconds

void tell_seed() {
  char line[64];
  const int size = std::snprintf(line, sizeof line, "DEPUTY_SIM_SEED=%llu repeats it\n",
                                 static_cast<unsigned long long>(growing));
  (void)!::write(STDERR_FILENO, line, static_cast<std::size_t>(size));
}
void tell_seed_and_die(int signal) {
  tell_seed();
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}
void begin_seed(std::uint64_t seed) {
  [[maybe_unused]] static const bool is_set = [] {
    ::__sanitizer_set_death_callback(tell_seed);
    ::signal(SIGABRT, tell_seed_and_die);
    ::signal(SIGALRM, tell_seed_and_die);
    return true;
  }();
  growing = seed;
  ::alarm(kMostSeconds);
}

std::optional<std::uint64_t> only_seed() {
  const auto text = SystemEnvironment().get("DEPUTY_SIM_SEED");
  return text ? std::optional(std::stoull(*text)) : std::nullopt;
}

// Several of them are beside each other: one takes every kParts-th seed.
constexpr std::uint64_t kParts = 4;
class AnyTreeSimulation : public testing::TestWithParam<std::uint64_t> {};
INSTANTIATE_TEST_SUITE_P(Part, AnyTreeSimulation, testing::Range<std::uint64_t>(0, kParts));

TEST_P(AnyTreeSimulation, IsSoundAtEveryEventAndComesToItsEnd) {
  Figures all;
  std::uint64_t trees = 0;
  const auto only = only_seed();
  const std::uint64_t last = only.value_or(simulation_seeds(400));
  for (std::uint64_t seed = only.value_or(1); seed <= last && !HasFailure(); ++seed) {
    if (seed % kParts != GetParam()) continue;
    SCOPED_TRACE(fmt::format("DEPUTY_SIM_SEED={} repeats it", seed));
    begin_seed(seed);
    AnyTree tree(seed);
    all += tree.grow();
    trees += 1;
    if (HasFailure() && only) fmt::print("{}", tree.journal());
    if (seed % 100 == GetParam() && !HasFailure()) {
      AnyTree again(seed);
      again.grow();
      EXPECT_EQ(tree.journal(), again.journal()) << "a seed gives one run";
    }
  }
  ::alarm(0);
  constexpr std::uint64_t kManyTrees = 500;  // among so many everything happens once
  if (trees >= kManyTrees && !HasFailure()) EXPECT_EQ(all.missing(), "");
  fmt::print("figures: {} trees: {}\n", trees, all.text());
}

}  // namespace
}  // namespace deputy
