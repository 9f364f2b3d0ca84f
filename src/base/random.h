// Where chance comes from. SystemRandom is the one place that asks the system; SeededRandom repeats itself,
// so that a simulated run can be repeated from its seed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace deputy {

class Random {
 public:
  virtual ~Random() = default;
  virtual std::uint64_t next() = 0;

  // Uniform in [0, bound); bound must not be 0.
  std::uint64_t below(std::uint64_t bound);
};

class SystemRandom final : public Random {
 public:
  std::uint64_t next() override;
};

class SeededRandom final : public Random {
 public:
  explicit SeededRandom(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() override;

 private:
  std::uint64_t state_;
};

// `length` characters drawn from `alphabet`.
std::string random_text(Random& random, std::size_t length, std::string_view alphabet);
// A version 4 uuid in its usual spelling.
std::string random_uuid(Random& random);

}  // namespace deputy
