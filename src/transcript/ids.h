// The names of things, each its own type. A SessionId is a name, not a proof: rights come from the runtime's
// own records.
#pragma once

#include <compare>
#include <string>

#include "base/clock.h"
#include "base/random.h"
#include "base/strong.h"

namespace deputy {

using SessionId = Strong<struct SessionIdTag>;  // sess_{unix seconds}_{6 of [a-z0-9]}
using Uuid = Strong<struct UuidTag>;            // for file names
using ModelName = Strong<struct ModelNameTag>;  // provider/name

struct RunId {
  SessionId session;
  int number = 1;
  auto operator<=>(const RunId&) const = default;
};

// A call is known by where it stands; the provider's own call id is data.
struct CallId {
  RunId run;
  int step = 0;
  int index = 0;
  auto operator<=>(const CallId&) const = default;
};

// What joins a parent's call to a child: insert-or-attach on it makes spawning repeatable. `task` counts
// within a batch.
struct DelegationKey {
  CallId call;
  int task = 0;
  auto operator<=>(const DelegationKey&) const = default;
};

SessionId new_session_id(const Clock& clock, Random& random);
bool is_session_id(std::string_view text);

// "sess_1800000000_abc123/1/4/0"; for logs, logs' readers and unique columns.
std::string to_text(const CallId& id);

}  // namespace deputy
