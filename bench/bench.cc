#include "bench.h"

#include <fcntl.h>
#include <unistd.h>

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

std::vector<Duration> syncs_in(const std::string& folder, int times) {
  const int file = ::open((folder + "/sync").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  const std::string pages(4 * 4096, 'x');
  std::vector<Duration> taken;
  for (int i = 0; i < times; ++i) {
    if (::write(file, pages.data(), pages.size()) < 0) break;
    const auto before = std::chrono::steady_clock::now();
    if (::fdatasync(file) != 0) break;
    taken.push_back(std::chrono::steady_clock::now() - before);
  }
  ::close(file);
  return taken;
}

}  // namespace deputy

int main() {
  char folder[] = "/tmp/deputy-bench-XXXXXX";
  if (!::mkdtemp(folder)) return 1;
  const int status = deputy::run_bench(folder);
  std::filesystem::remove_all(folder);
  return status;
}
