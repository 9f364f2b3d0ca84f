#include "model/retry.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace deputy {

namespace {

// Doubled for each failure in a row, and up to a quarter less, so that those who failed together do not come
// back together.
Duration backoff(int failed, Duration first, Duration longest, Random& random) {
  Duration wait = std::min(first, longest);
  for (int i = 1; i < failed && wait < longest; ++i) wait = std::min(wait * 2, longest);
  const auto quarter = static_cast<std::uint64_t>(std::max<Duration::rep>(wait.count() / 4, 0));
  return wait - Duration{random.below(quarter + 1)};
}

// What a provider said, as one.
std::string sentence(std::string text) {
  if (!text.empty() && !std::string_view(".!?").contains(text.back())) text += '.';
  return text;
}

std::string times(int count) { return count == 1 ? "once" : fmt::format("{} times", count); }

Retry after_rate_limit(const Failure& failure, const Tried& tried, const Patience& patience) {
  if (failure.retry_after && *failure.retry_after > patience.longest_rate_limit) {
    return GiveUp{fmt::format("{} {}", sentence(failure.message), wants_no_request(*failure.retry_after))};
  }
  if (tried.rate_limited >= patience.total_rate_limited) {
    return GiveUp{fmt::format("{} Nothing was let through for {}. Continue it later, or use another model.",
                              sentence(failure.message), to_text(tried.rate_limited))};
  }
  return TryAgain{};
}

// So many times what is counted an estimate may be: of a first request, and of any other.
constexpr double kFirstEstimate = 1.4;
constexpr double kEstimate = 1.05;

bool is_this_machine(std::string_view url) {
  std::string_view host = url.substr(std::min(url.find("://"), url.size()));
  if (!host.empty()) host.remove_prefix(3);
  host = host.substr(0, host.find_first_of("/?#"));
  host = host.substr(host.rfind('@') + 1);
  if (host.starts_with("[::1]")) return true;
  host = host.substr(0, host.find(':'));
  return host == "localhost" || host.starts_with("127.");
}

}  // namespace

Patience patience_with(std::string_view base_url) {
  Patience patience;
  if (is_this_machine(base_url)) {
    patience.longest_wait_to_reach = std::chrono::milliseconds{500};
    patience.at_once = 1024;
  }
  return patience;
}

std::string wants_no_request(Duration wait) {
  return fmt::format("The provider wants no request for {}{}. Continue it then, or use another model.",
                     wait >= std::chrono::hours{1} ? "at least " : "", to_text(wait));
}

Failure weighed(Failure failure, const Weight& weight) {
  if (failure.kind != Failure::Kind::rate_limited || !failure.token_quota) return failure;
  const auto [quota, spares_cached] = *failure.token_quota;
  const std::int64_t cached = spares_cached ? weight.cached : 0;
  const double least =
      static_cast<double>(weight.tokens) / (weight.may_be_far_less ? kFirstEstimate : kEstimate);
  if (least - static_cast<double>(cached) <= static_cast<double>(quota)) return failure;
  failure.kind = Failure::Kind::context_exhausted;
  failure.retry_after.reset();
  failure.message =
      fmt::format("{} It comes to about {} tokens, and {} are taken in a minute.", sentence(failure.message),
                  with_thousands(static_cast<std::uint64_t>(weight.tokens - cached)),
                  with_thousands(static_cast<std::uint64_t>(quota)));
  return failure;
}

Retry after_failure(const Failure& failure, const Tried& tried, const Patience& patience, Random& random) {
  switch (failure.kind) {
    case Failure::Kind::definite:
    case Failure::Kind::context_exhausted:
      return GiveUp{failure.message};
    case Failure::Kind::rate_limited:
      return after_rate_limit(failure, tried, patience);
    case Failure::Kind::transient:
      break;
  }
  const Duration longest = failure.is_unreached ? patience.longest_wait_to_reach : patience.longest_wait;
  const Duration wait = std::max(backoff(tried.failed, patience.first_wait, longest, random),
                                 failure.retry_after.value_or(Duration{}));
  const bool is_out_of_time = tried.spent + wait >= patience.total;
  const bool is_enough = tried.failed >= patience.attempts ||
                         (failure.most_attempts && tried.unusable >= *failure.most_attempts);
  if (is_enough || is_out_of_time) {
    std::string why = fmt::format("{} Tried {}.", sentence(failure.message), times(tried.failed));
    if (is_out_of_time && failure.retry_after == wait) {
      why += fmt::format(" It wants no other request for {}.", to_text(wait));
    }
    return GiveUp{std::move(why)};
  }
  return TryAgain{wait};
}

}  // namespace deputy
