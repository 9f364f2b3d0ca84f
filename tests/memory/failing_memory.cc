#include "failing_memory.h"

#include <dlfcn.h>

#include <cstdlib>
#include <new>
#include <string_view>
#include <typeinfo>
#include <vector>

#include "async/timers.h"

namespace deputy::memory {

constinit thread_local long fails_in = 0;
constinit thread_local long counted = 0;
constinit thread_local bool is_counting = false;
constinit thread_local bool has_failed = false;

}  // namespace deputy::memory

namespace {

using namespace deputy::memory;

bool is_the_loops(const void* caller) noexcept {
  Dl_info found{};
  if (::dladdr(caller, &found) == 0 || !found.dli_sname) return false;
  const std::string_view name = found.dli_sname;
  return name.contains("executor_function_tag") || name.contains("6Timers3due") ||
         name.contains(typeid(std::vector<deputy::TimerId>).name());
}
bool has_memory(const void* caller) noexcept {
  if (!is_counting) return true;
  ++counted;
  if (fails_in == 0 || --fails_in > 0) return true;
  has_failed = !is_the_loops(caller);
  return !has_failed;
}
void* allocate(std::size_t size, const void* caller) noexcept {
  return has_memory(caller) ? std::malloc(size > 0 ? size : 1) : nullptr;
}
void* allocate_or_throw(std::size_t size, const void* caller) {
  if (void* place = allocate(size, caller)) return place;
  throw std::bad_alloc();
}

}  // namespace

// All of the program's: asio has its coroutines and its queue from aligned_alloc.
#define CALLER __builtin_return_address(0)
void* operator new(std::size_t size) { return allocate_or_throw(size, CALLER); }
void* operator new[](std::size_t size) { return allocate_or_throw(size, CALLER); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return allocate(size, CALLER); }
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept { return allocate(size, CALLER); }
void operator delete(void* place) noexcept { std::free(place); }
void operator delete[](void* place) noexcept { std::free(place); }
void operator delete(void* place, std::size_t) noexcept { std::free(place); }
void operator delete[](void* place, std::size_t) noexcept { std::free(place); }
void operator delete(void* place, const std::nothrow_t&) noexcept { std::free(place); }
void operator delete[](void* place, const std::nothrow_t&) noexcept { std::free(place); }
extern "C" void* __real_aligned_alloc(std::size_t alignment, std::size_t size);
extern "C" void* __wrap_aligned_alloc(std::size_t alignment, std::size_t size) {
  return has_memory(CALLER) ? __real_aligned_alloc(alignment, size) : nullptr;
}
