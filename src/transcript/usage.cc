#include "transcript/usage.h"

namespace deputy {

namespace {

bool is_nothing(const Usage& usage) {
  return usage.input == 0 && usage.output == 0 && usage.cache_read == 0 && usage.cache_write == 0;
}

std::optional<std::int64_t> sum_of_costs(const Usage& a, const Usage& b) {
  if (a.cost_micros && b.cost_micros) return *a.cost_micros + *b.cost_micros;
  if (is_nothing(a)) return b.cost_micros;
  if (is_nothing(b)) return a.cost_micros;
  return std::nullopt;
}

}  // namespace

Usage operator+(const Usage& a, const Usage& b) {
  return {.input = a.input + b.input,
          .output = a.output + b.output,
          .cache_read = a.cache_read + b.cache_read,
          .cache_write = a.cache_write + b.cache_write,
          .cost_micros = sum_of_costs(a, b)};
}

}  // namespace deputy
