// What /proc says of a process, whose name is its own choice: whatever that is, its pid, its parent and its
// start are what the kernel wrote.
#include "sandbox/init/process_stat.h"

#include <fmt/format.h>

#include "must.h"

using namespace deputy;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(bytes), size);
  init::ProcessStat process{};
  (void)init::read_process_stat(text.c_str(), process);
  const std::string line =
      fmt::format("42 ({}) S 7 42 42 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 123456 9 10\n",
                  text.substr(0, text.find('\0')));
  must(init::read_process_stat(line.c_str(), process));
  must(process.pid == 42 && process.parent == 7 && process.started == 123456);
  return 0;
}
