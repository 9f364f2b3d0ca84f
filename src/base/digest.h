// SHA-256 of bytes that come in pieces.
#pragma once

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

}  // namespace deputy
