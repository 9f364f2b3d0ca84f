// How one provider's API is spoken, as pure functions: messages and prefix into the text of a request, bytes
// of an answer into a Reply. A dialect knows no clock, no network and no retry; HttpProvider has those, once
// for all of them.
#pragma once

#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "model/provider.h"
#include "model/token_quota.h"
#include "net/network.h"

namespace deputy {

// Where a provider is reached, and as whom.
struct Endpoint {
  std::string base_url;  // without a slash at its end
  std::string key;       // empty where none is needed
};

// A request that brought no Reply, or half of one.
struct Failure {
  enum class Kind {
    transient,          // the same request may work in a moment
    rate_limited,       // it will, once there is room again: waiting for that is not a failed attempt
    context_exhausted,  // the conversation does not fit
    definite,           // it will never work like this
  };
  Kind kind = Kind::transient;
  std::string message;                                   // for people: what the provider said, on one line
  std::optional<Duration> retry_after = std::nullopt;    // as the provider wants it
  std::optional<TokenQuota> token_quota = std::nullopt;  // as it names it, where it is rate limited
  Usage usage = {};           // what was counted before it broke; without a cost: nobody knows
  bool is_unreached = false;  // no connection came about
  bool is_overload = false;   // rate limited, but not for what we ask: for what all do
  bool is_malformed = false;  // what was sent is not what it takes
  bool is_silence = false;    // no event came for too long
  bool is_unknown = false;    // it has nothing of that name: no such model, or nothing at that address
  std::optional<int> most_attempts = std::nullopt;  // that fail like this: more will hardly help
  bool operator==(const Failure&) const = default;
};

// The body of a request is head, then the fragments with commas between them, then tail.
struct EncodedPrefix {
  std::string head;
  std::string tail;
};

// One answer of status 200, read as it comes. The pieces may be cut anywhere: the outcome is the same.
class ReplyDecoder {
 public:
  virtual ~ReplyDecoder() = default;
  // Says whether there was an event in it that shows progress; pings and comments are none.
  virtual bool feed(std::string_view bytes, const DeltaSink& deltas) = 0;
  // True once all has been said: what still comes is not waited for.
  virtual bool is_complete() const = 0;
  // True where the body may end well here: what can still come is waited for only shortly.
  virtual bool may_be_complete() const { return is_complete(); }
  // At the end of the body. A body that ends before its terminal event is a transient Failure. Model and cost
  // are the caller's to fill in; message.wire is set where the provider wants its turn back unchanged.
  virtual std::expected<Reply, Failure> finish() = 0;
};

class Dialect {
 public:
  virtual ~Dialect() = default;
  virtual std::string_view provider() const = 0;
  // Byte-stable: equal messages give equal fragments. An assistant message whose `wire` is this dialect's own
  // goes back as it came.
  virtual std::string encode(const Message& message) const = 0;
  virtual EncodedPrefix encode(const RequestPrefix& prefix) const = 0;
  // Everything but the body.
  virtual HttpRequest address(const ModelName& model, const Endpoint& endpoint) const = 0;
  virtual std::unique_ptr<ReplyDecoder> decoder() const = 0;
  // What an answer of another status than 200 means. `now` turns dates into durations.
  virtual Failure failure(const HttpResponse& response, std::string_view body, WallTime now) const = 0;
};

// "provider/name/with/slashes" without its provider.
std::string_view bare_name(const ModelName& model);

}  // namespace deputy
