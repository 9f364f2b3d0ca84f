#include "model/cost.h"

#include <algorithm>
#include <cmath>

namespace deputy {

std::int64_t cost_of(const Usage& usage, const Price& price) {
  // Dollars for a million tokens are millionths of a dollar for one.
  const auto plain = std::max<std::int64_t>(0, usage.input - usage.cache_read - usage.cache_write);
  return std::llround(static_cast<double>(plain) * price.input +
                      static_cast<double>(usage.cache_read) * price.cache_read.value_or(price.input) +
                      static_cast<double>(usage.cache_write) * price.cache_write.value_or(price.input) +
                      static_cast<double>(usage.output) * price.output);
}

}  // namespace deputy
