// A model behind HTTP, whatever dialect it speaks: one request made well. It foresees a full context, waits
// its turn at the governor, watches three clocks, tries again what may work in a moment and says so, and
// knows what it cost. Whatever the other side does, the outcome is one Reply. Any number of asks at once.
#pragma once

#include <expected>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "async/loop.h"
#include "base/random.h"
#include "base/redaction.h"
#include "model/attempt.h"
#include "model/cost.h"
#include "model/dialect.h"
#include "model/governor.h"
#include "model/model_facts.h"
#include "model/provider.h"
#include "model/retry.h"
#include "net/network.h"

namespace deputy {

class HttpProvider final : public Provider {
 public:
  struct Parts {
    std::unique_ptr<Dialect> dialect;
    Endpoint endpoint;
    // The variable that a key is looked for in, to be named where there is none. Empty: it needs no key.
    std::string key_variable;
    Network& network;
    Loop& loop;
    Random& random;
    Governors& governors;  // of the whole process
    std::function<ModelFacts(const ModelName&)> facts;
    Clocks clocks = {};
    Patience patience = {};
  };
  explicit HttpProvider(Parts parts);

  std::string_view name() const override { return parts_.dialect->provider(); }
  std::string encode(const Message& message) const override { return parts_.dialect->encode(message); }
  Task<Reply> ask(Request request, DeltaSink deltas, StopToken stop) override;
  std::int64_t window(const ModelName& model) const override;
  std::optional<Price> price(const ModelName& model) const override { return parts_.facts(model).price; }

 private:
  using KeptPrefixes =
      std::map<std::weak_ptr<const RequestPrefix>, std::shared_ptr<const EncodedPrefix>, std::owner_less<>>;
  // A request that is ready to be sent, as often as need be.
  struct Ready {
    HttpRequest head;  // without its body
    std::shared_ptr<const EncodedPrefix> prefix;
    std::int64_t tokens = 0;
  };

  enum class Anew { refused, all };

  // `untold` is what the attempt under way has come to: for whoever has to say it instead.
  Task<Reply> ask_within_memory(Request request, DeltaSink deltas, StopToken stop, Usage* untold);
  std::expected<Ready, Reply> prepare(const Request& request);
  std::vector<std::string> written_anew(const Request& request, Anew which) const;
  void remember_refused(std::span<const std::string> asked, std::span<const std::string> taken);
  Task<std::expected<Reply, Failure>> try_once(Ready ready, Request request, Governor::Turn* turn,
                                               DeltaSink deltas, StopToken stop);
  std::shared_ptr<const EncodedPrefix> kept(const std::shared_ptr<const RequestPrefix>& prefix);
  std::shared_ptr<const EncodedPrefix> encoded(const RequestPrefix& prefix, std::int64_t max_output) const;
  Reply ended(ReplyStop stop, const ModelName& model, std::string error, Usage usage = kUntaken) const;
  Usage priced(Usage usage, const ModelName& model) const;

  Parts parts_;
  Redactor redactor_;  // an answer may echo the key
  KeptPrefixes kept_;
  std::set<std::string> refused_;  // turns that went through only when written anew, by their digest
};

}  // namespace deputy
