#include "bench.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace deputy {

Percentiles percentiles_of(std::vector<Duration> taken) {
  std::ranges::sort(taken);
  const auto at = [&](double part) {
    const auto index = static_cast<std::size_t>(part * static_cast<double>(taken.size() - 1));
    return std::chrono::duration<double, std::milli>(taken[index]).count();
  };
  return {at(0.5), at(0.99)};
}

}  // namespace deputy

int main() {
  char folder[] = "/tmp/deputy-bench-XXXXXX";
  if (!::mkdtemp(folder)) return 1;
  const int status = deputy::run_bench(folder);
  std::filesystem::remove_all(folder);
  return status;
}
