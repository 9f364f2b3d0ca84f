// The n-th call of the system that the code under test makes is refused. The linker puts these calls between
// it and the C library (-Wl,--wrap in tests/CMakeLists.txt).
#pragma once

#include <cstddef>
#include <string>

namespace deputy::calls {

enum class Refused {
  whole,
  after_half,  // a write takes half of its bytes, and the next one is refused
};

// Of this thread, as long as it lives; one at a time.
class FailingCall {
 public:
  FailingCall(int at, int error, Refused how = Refused::whole);  // the first is 1
  ~FailingCall();
  FailingCall(const FailingCall&) = delete;

  // The name of the call that was refused; empty where fewer were made.
  const std::string& refused() const { return refused_; }

  // For the calls: whether this one is refused, with errno.
  bool refuses(const char* name);
  // How many bytes of so many a write is offered. None: it is refused, with errno.
  std::size_t takes(std::size_t size);

 private:
  int left_;
  int error_;
  Refused how_;
  bool has_halved_ = false;
  std::string refused_;
};

}  // namespace deputy::calls
