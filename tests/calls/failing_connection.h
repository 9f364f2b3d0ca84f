// The n-th of a call of the system that makes a connection, or keeps it, is refused, whoever makes it: the
// program defines these calls itself, and the loader gives them to libcurl and OpenSSL too, before those of
// the C library. Each is counted for itself: how often a socket is polled is a matter of time.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <map>
#include <string_view>

namespace deputy::calls {

// Of this thread, as long as it lives; one at a time.
class FailingConnection {
 public:
  enum class How { alone, and_all_after };  // all calls, whatever their names
  struct Refused {
    int reason = 0;           // 0: fewer were made
    std::size_t choices = 0;  // of reasons, that there were
  };

  // `at`: the first is 1; 0: none. `choice`: which of the reasons that this call can have.
  FailingConnection(std::string_view call, int at, std::size_t choice, How how);
  ~FailingConnection();
  FailingConnection(const FailingConnection&) = delete;

  const Refused& refused() const { return refused_; }
  // How often each call was made.
  const std::map<std::string_view, int>& made() const { return made_; }

  // For the calls: why this one is refused; 0: it is not.
  int refuses(std::string_view call, std::initializer_list<int> reasons);

 private:
  std::string_view call_;
  int at_;
  std::size_t choice_;
  How how_;
  Refused refused_;
  std::map<std::string_view, int> made_;
};

// The name that leads to the loopback while names are looked up: no other machine is asked for any.
inline constexpr const char* kServerName = "server.test";

// As long as it lives, looking up that name fails so, with one of the EAI_…, on whichever thread.
class FailingLookup {
 public:
  explicit FailingLookup(int error);
  ~FailingLookup();
  FailingLookup(const FailingLookup&) = delete;
};

}  // namespace deputy::calls
