// Digests of bytes that come in pieces.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace deputy {

class Sha256 {
 public:
  Sha256();
  ~Sha256();
  void feed(std::string_view piece);
  std::string hex();  // of all that was fed; once

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

// The usual one, of Ethernet and zip.
class Crc32 {
 public:
  void feed(std::string_view piece);
  std::uint32_t value() const { return ~state_; }  // of all that was fed

 private:
  std::uint32_t state_ = ~std::uint32_t{0};
};

}  // namespace deputy
