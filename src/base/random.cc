#include "base/random.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <cassert>
#include <cerrno>
#include <system_error>

namespace deputy {

std::uint64_t Random::below(std::uint64_t bound) {
  assert(bound != 0);
  // The first 2^64 mod bound numbers would make small results likelier than large ones.
  const std::uint64_t uneven = -bound % bound;
  std::uint64_t drawn = next();
  while (drawn < uneven) drawn = next();
  return drawn % bound;
}

std::uint64_t SystemRandom::next() {
  std::uint64_t number = 0;
  ssize_t got = 0;
  do {
    got = getrandom(&number, sizeof number, 0);
  } while (got == -1 && errno == EINTR);
  // Up to 256 bytes come whole or not at all; going on without chance would make ids collide.
  if (got != sizeof number) throw std::system_error(errno, std::system_category(), "getrandom");
  return number;
}

std::uint64_t SeededRandom::next() {
  // splitmix64: every seed, 0 included, gives a sound sequence.
  state_ += 0x9e3779b97f4a7c15;
  std::uint64_t mixed = state_;
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
  return mixed ^ (mixed >> 31);
}

std::string random_text(Random& random, std::size_t length, std::string_view alphabet) {
  std::string text;
  text.reserve(length);
  for (std::size_t i = 0; i < length; ++i) text += alphabet[random.below(alphabet.size())];
  return text;
}

std::string random_uuid(Random& random) {
  const std::uint64_t high = (random.next() & ~0xf000ULL) | 0x4000;
  const std::uint64_t low = (random.next() & ~(3ULL << 62)) | (2ULL << 62);
  return fmt::format("{:08x}-{:04x}-{:04x}-{:04x}-{:012x}", high >> 32, (high >> 16) & 0xffff, high & 0xffff,
                     low >> 48, low & 0xffffffffffff);
}

}  // namespace deputy
