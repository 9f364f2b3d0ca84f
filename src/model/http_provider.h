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
  // One request under way, sent as often as need be. Many wait at once, and long: what ask() holds for each
  // is here and in its parameters, and nowhere twice.
  struct Asking {
    Request& request;
    const DeltaSink& deltas;
    const StopToken& stop;
    Usage& untold;  // what the attempt under way has come to: for whoever has to say it instead
    std::shared_ptr<const EncodedPrefix> prefix = nullptr;
    Governor* governor = nullptr;
    Governor::Rank rank = {};
    Tried tried = {};
    std::span<const std::string> asked = {};  // its fragments as they came
    std::vector<std::string> anew = {};       // what is sent instead, where it cannot go as it is
    bool is_repaired = false;
    int attempts = 1;
    TimePoint began = {};  // the attempt under way
    Duration wait = {};    // before it gets in line again
  };

  enum class Anew { refused, all };

  // The reply where nothing can be sent.
  std::optional<Reply> prepare(Asking& asking);
  std::optional<Reply> choose_prefix(Asking& asking);
  Reply sent_away(const Asking& asking) const;
  Task<std::expected<Reply, Failure>> try_once(Asking& asking, Governor::Turn& turn) const;
  // Whether the outcome is what is replied; else it is to be tried again.
  bool settle(Asking& asking, std::optional<Governor::Turn>& turn, std::expected<Reply, Failure>& outcome);
  void finish(std::expected<Reply, Failure>& outcome, const Asking& asking) const;
  Weight weight(const Asking& asking) const;
  std::vector<std::string> written_anew(const Request& request, Anew which) const;
  void remember_refused(std::span<const std::string> asked, std::span<const std::string> taken);
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
