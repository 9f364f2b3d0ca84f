// A descriptor that is closed when its owner dies.
#pragma once

#include <unistd.h>

#include <utility>

namespace deputy {

class OwnedFd {
 public:
  OwnedFd() = default;
  explicit OwnedFd(int descriptor) : descriptor_(descriptor) {}
  OwnedFd(OwnedFd&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  OwnedFd& operator=(OwnedFd&& other) noexcept {
    if (this != &other) reset(std::exchange(other.descriptor_, -1));
    return *this;
  }
  ~OwnedFd() { reset(); }

  int get() const { return descriptor_; }
  explicit operator bool() const { return descriptor_ >= 0; }
  void reset(int descriptor = -1) {
    if (descriptor_ >= 0) ::close(descriptor_);
    descriptor_ = descriptor;
  }

 private:
  int descriptor_ = -1;
};

}  // namespace deputy
