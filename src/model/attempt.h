// One exchange with a model's server, under three clocks: it ends with a whole Reply or with a Failure that
// says what may be done about it. No retry and no pace here.
#pragma once

#include <chrono>
#include <expected>
#include <functional>

#include "async/loop.h"
#include "model/dialect.h"
#include "net/network.h"

namespace deputy {

struct Clocks {
  Duration connect = std::chrono::seconds{10};
  Duration first_event = std::chrono::seconds{60};  // since the request was made, connecting included
  Duration no_event = std::chrono::seconds{120};    // since the last one; pings are none
  // Since the last event, where only counts and the end of the stream can still come, and need not.
  Duration last_words = std::chrono::milliseconds{1500};
  // How long the end of the body is waited for once all is said: then the connection can be used again.
  Duration linger = std::chrono::milliseconds{250};
};

inline constexpr std::size_t kMaxReplyBytes = 64 * 1024 * 1024;
inline constexpr std::size_t kMaxErrorBytes = 64 * 1024;  // of an error's body; what follows is not read

struct AttemptParts {
  const Dialect& dialect;
  Network& network;
  Loop& loop;
  Clocks clocks;
  // Called once where the server took the request: status 200.
  std::function<void(const HttpHeaders&)> on_accepted;
};

// Yields a transient Failure when stopped: whoever stopped it knows.
Task<std::expected<Reply, Failure>> attempt(AttemptParts parts, HttpRequest request, DeltaSink deltas,
                                            StopToken stop);

}  // namespace deputy
