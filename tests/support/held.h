// What a process holds. Memory is what the allocator has given out and not got back: the size of the process
// would tell of the allocator's and the sanitizer's own stock as well.
#pragma once

#include <malloc.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iterator>

#if __has_feature(address_sanitizer)
#include <sanitizer/allocator_interface.h>
#endif

namespace deputy {

struct Held {
  std::int64_t bytes = 0;
  std::ptrdiff_t descriptors = 0;

  static Held now() {
#if __has_feature(address_sanitizer)
    const auto bytes = __sanitizer_get_current_allocated_bytes();
#else
    const auto bytes = ::mallinfo2().uordblks;
#endif
    return {static_cast<std::int64_t>(bytes),
            std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {})};
  }
};

}  // namespace deputy
