// One request in, one streamed Reply out. A provider never throws and never retries the conversation's
// meaning: failures are Replies whose stop says how it ended. It keeps no state between requests, so a
// conversation can be continued by another process.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "async/stop.h"
#include "async/task.h"
#include "transcript/event.h"
#include "transcript/ids.h"
#include "transcript/message.h"
#include "transcript/reply.h"

namespace deputy {

struct ToolOffer {
  std::string name;
  std::string description;
  std::string schema;  // JSON text
};

// What a run's requests have in common: made once, shared, byte-stable, so that prompt caches hit.
struct RequestPrefix {
  ModelName model;
  std::string system;
  std::vector<ToolOffer> tools;
  int max_output_tokens = 4096;
};

// What a provider counted: the tokens that the prefix and the first `messages` of a conversation came to.
struct Measured {
  std::size_t messages = 0;
  std::int64_t tokens = 0;
};

// What one message or several hold, whatever model they are for: weighed once (model/context_estimate.h),
// then added up.
struct MessageWeight {
  std::int64_t text = 0;    // tokens, in an average tokenizer
  std::int64_t digits = 0;  // so many more, where each digit is one
  std::int64_t messages = 0;
  std::int64_t calls = 0;   // and as many results as there are
  std::int64_t sealed = 0;  // bytes that a provider wants back unchanged
  MessageWeight& operator+=(const MessageWeight& other) {
    text += other.text;
    digits += other.digits;
    messages += other.messages;
    calls += other.calls;
    sealed += other.sealed;
    return *this;
  }
  bool operator==(const MessageWeight&) const = default;
};

struct Request {
  std::shared_ptr<const RequestPrefix> prefix;
  std::int64_t prefix_tokens = 0;          // as estimated_tokens() gave them; 0: it was not weighed
  std::span<const Message> messages;       // alive until the reply
  std::span<const std::string> fragments;  // messages[i] as encode() gave it
  std::span<const MessageWeight> weights;  // messages[i] as weight_of() gave it; empty: they were not weighed
  std::optional<Measured> measured;        // by the last reply, once there is one
  // Who asks, for logs, and for who plays a model.
  SessionId session;
  std::string label;
  std::string agent;
  int depth = 0;
  int replies_before = 0;  // that a summary among the messages stands for, and its own
  bool is_last = false;    // the grace step of a run at a limit: it may use what was reserved for it
};

// What there is to see while a reply is under way: a piece of its text, that what came so far is void and is
// asked for again, or that it is a summary of the conversation, which is not shown while it is said.
struct TextDelta {
  std::string_view text;
};
struct SummaryAsked {
  std::int64_t tokens = 0;  // that are summed up, by estimate
};
using Delta = std::variant<TextDelta, Retried, SummaryAsked>;
using DeltaSink = std::function<void(const Delta&)>;

// US dollars for a million tokens. What is kept in a cache costs as `input` where nothing else is said.
struct Price {
  double input = 0;
  double output = 0;
  std::optional<double> cache_read = std::nullopt;
  std::optional<double> cache_write = std::nullopt;
};

class Provider {
 public:
  virtual ~Provider() = default;
  virtual std::string_view name() const = 0;
  // A message in this provider's own form, made once and kept: a request is assembled from these, not
  // serialised again.
  virtual std::string encode(const Message& message) const = 0;
  // What has to be durable before this request is asked: whoever asks records it first, with what the request
  // tells. Called before each ask.
  virtual std::vector<Fact> before(const Request& /*request*/) { return {}; }
  virtual Task<Reply> ask(Request request, DeltaSink deltas, StopToken stop) = 0;
  // The most tokens a conversation may hold.
  virtual std::int64_t window(const ModelName& model) const = 0;
  virtual std::optional<Price> price(const ModelName& model) const = 0;  // nothing where it is not known
};

}  // namespace deputy
