// A copy of this process that goes on by itself when the command that made it has returned: without a
// terminal, in a session of its own. What the copy prints is kept until it announces itself and dropped from
// then on; one that ends before it could has its output and status handed to the process that made it, so
// that a mistake is told as it is in the foreground.
#pragma once

#include <string>
#include <variant>

#include "base/result.h"
#include "sandbox/owned_fd.h"

namespace deputy {

// The copy's way to say that it is under way.
class Announcer {
 public:
  explicit Announcer(OwnedFd pipe) : pipe_(std::move(pipe)) {}
  // Once; anything further is ignored.
  void announce(const std::string& text);

 private:
  OwnedFd pipe_;
};

struct Announced {
  std::string text;
};

struct EndedEarly {
  int status = 1;
  std::string out;
  std::string err;
};

// Returns twice, as fork does: an Announcer in the copy. To be called before the first thread.
Result<std::variant<Announcer, Announced, EndedEarly>> go_on_in_background();

}  // namespace deputy
