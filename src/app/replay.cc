#include "app/replay.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>

#include "app/replay_attempt.h"
#include "app/replay_beyond.h"
#include "app/replay_person.h"
#include "base/text.h"

namespace deputy {
namespace {

constexpr std::string_view kLookAtIt = "look at its events: each line of the bundle is one";

class Attempts {
 public:
  Attempts(const Bundle& bundle, std::size_t most_steps)
      : bundle_(bundle), recording_(bundle), most_steps_(most_steps), steps_(most_steps) {}

  // Until one comes out the same: else that which comes closest.
  Result<Replayed> replayed() {
    constexpr std::uint64_t kOrders = 8;
    const auto search = has_search(bundle_);
    for (std::uint64_t order = 0; order <= kOrders; ++order) {
      Guess guess{.order = order == 0 ? std::nullopt : std::optional(order),
                  .has_search = search.value_or(order % 2 == 0)};
      for (const int time : {1, 2}) {
        auto [replayed, learned] = attempt(recording_, guess, steps_);
        if (!replayed && replayed.error().code == ErrorCode::exhausted) return all_steps_made();
        keep_closest(std::move(replayed));
        if (*closest_ && (*closest_)->differences.empty()) return counted();
        if (time == 2 || learned == guess) break;
        guess = std::move(learned);
      }
    }
    return counted();
  }

 private:
  void keep_closest(Result<Replayed> replayed) {
    const bool is_first = !closest_ || (!*closest_ && replayed);
    if (is_first || (replayed && is_closer(*replayed, **closest_))) closest_ = std::move(replayed);
  }
  Result<Replayed> counted() {
    if (*closest_) (*closest_)->steps = most_steps_ - steps_;
    return *std::move(closest_);
  }
  // Not all was tried: what went another way is no defect yet.
  Result<Replayed> all_steps_made() const {
    const bool is_different = closest_ && *closest_;
    return fail(
        ErrorCode::exhausted,
        fmt::format("the tree cannot be replayed: to try that takes more than {} steps{}",
                    with_thousands(most_steps_),
                    is_different ? fmt::format("; as far as it was tried it goes another way from here: {}",
                                               (*closest_)->differences.front())
                                 : ""),
        std::string(kLookAtIt));
  }

  const Bundle& bundle_;
  const Recording recording_;
  const std::size_t most_steps_;
  std::size_t steps_;  // that are left
  std::optional<Result<Replayed>> closest_;
};

bool is_excuse(const BeyondReplay& beyond, const Replayed& replayed) {
  return replayed.first >= beyond.from && (replayed.is_of_time || !beyond.is_of_time);
}

}  // namespace

Result<Replayed> replay(const Bundle& bundle, std::size_t most_steps) {
  auto replayed = Attempts(bundle, most_steps).replayed();
  if (!replayed || replayed->differences.empty()) return replayed;
  for (const BeyondReplay& beyond : beyond_replay(bundle)) {
    if (!is_excuse(beyond, *replayed)) continue;
    return fail(ErrorCode::unavailable,
                fmt::format("the tree cannot be replayed: {}; it goes another way from here: {}", beyond.why,
                            replayed->differences.front()),
                std::string(kLookAtIt));
  }
  const auto late = went_on_late(bundle);
  if (late && is_excuse(*late, *replayed)) replayed->differences.front() += fmt::format(" ({})", late->why);
  return replayed;
}

}  // namespace deputy
