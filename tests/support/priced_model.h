// A scripted or played model that costs money. It keeps its own account outside the process, as a provider
// does: it charges the input when it is asked and the output when it has answered, whoever still listens. It
// obeys the output cap. Of an attempt that brings no answer it tells nothing, as some dialects do, and
// charges for all that it may have thought until then.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "model/cost.h"
#include "model/offline.h"

namespace deputy {

struct Bank {
  std::int64_t tokens = 0;
  std::int64_t micros = 0;
  int requests = 0;
  int answers = 0;
  std::vector<int> caps;            // on the output of each request
  std::multiset<SessionId> asking;  // whose request is under way; not in a last step, which needs no place
  // Whether the process that asks has died: it makes no other attempt, though the simulation lets it go on.
  std::function<bool()> is_gone = {};
};

class PricedModel final : public Provider {
 public:
  // `tells_untaken`: the inner one says of a request that it was not taken only where that is so.
  PricedModel(std::unique_ptr<Provider> inner, Bank& bank, std::optional<Price> price,
              bool tells_untaken = false)
      : inner_(std::move(inner)), bank_(bank), price_(price), tells_untaken_(tells_untaken) {}

  static constexpr Price kPrice{.input = 3, .output = 15};

  std::string_view name() const override { return "priced"; }
  std::string encode(const Message&) const override { return {}; }
  std::int64_t window(const ModelName&) const override { return 200'000; }
  std::optional<Price> price(const ModelName&) const override { return price_; }

  Task<Reply> ask(Request request, DeltaSink deltas, StopToken stop) override {
    const int cap = request.prefix->max_output_tokens;
    const std::int64_t input = estimated_usage(request, {}).input;
    bank_.requests += 1;
    bank_.caps.push_back(cap);
    const Asking asking(bank_, request);
    bool is_under_way = false;
    const auto attempt = [&] {
      is_under_way = true;
      charge({.input = input});
    };
    // Turned away, or stopped between two attempts: then it was not taken. What is told of it is yielded.
    const auto settle = [&](const Usage& told) {
      const bool is_untaken = tells_untaken_ && told == kUntaken;
      if (std::exchange(is_under_way, false)) {
        if (is_untaken) take_back({.input = input});
        if (!is_untaken) charge({.output = cap});
      }
      return is_untaken ? kUntaken : Usage{};
    };
    DeltaSink watching = [&](const Delta& delta) {
      const auto* retried = std::get_if<Retried>(&delta);
      if (!retried) {
        if (deltas) deltas(delta);
        return;
      }
      Retried again = *retried;
      again.usage = settle(retried->usage);
      if (deltas) deltas(std::move(again));
      if (!stop.stopped() && !(bank_.is_gone && bank_.is_gone())) attempt();
    };
    const Request asked = request;
    attempt();
    Reply reply = co_await inner_->ask(std::move(request), std::move(watching), stop);
    if (reply.stop == ReplyStop::stopped || is_failure(reply.stop)) {
      reply.usage = settle(reply.usage);
      co_return reply;
    }
    const std::int64_t whole = estimated_usage(asked, reply.message).output;
    const std::int64_t output = std::min<std::int64_t>(whole, cap);
    if (output < whole) {
      reply.stop = ReplyStop::output_limit;
      reply.message.calls.clear();
      reply.message.text.resize(std::min(reply.message.text.size(), static_cast<std::size_t>(output) * 4));
    }
    reply.usage = costing({.input = input, .output = output});
    bank_.answers += 1;
    if (is_under_way) charge({.output = output});
    co_return reply;
  }

 private:
  class Asking {
   public:
    Asking(Bank& bank, const Request& request) : bank_(bank) {
      if (!request.is_last) asks_ = bank.asking.insert(request.session);
    }
    Asking(const Asking&) = delete;
    ~Asking() {
      if (asks_) bank_.asking.erase(*asks_);
    }

   private:
    Bank& bank_;
    std::optional<std::multiset<SessionId>::iterator> asks_;
  };

  Usage costing(Usage usage) const {
    if (price_) usage.cost_micros = cost_of(usage, *price_);
    return usage;
  }
  void charge(const Usage& usage) {
    bank_.tokens += usage.input + usage.output;
    bank_.micros += costing(usage).cost_micros.value_or(0);
  }
  void take_back(const Usage& usage) {
    bank_.tokens -= usage.input + usage.output;
    bank_.micros -= costing(usage).cost_micros.value_or(0);
  }

  std::unique_ptr<Provider> inner_;
  Bank& bank_;
  std::optional<Price> price_;
  bool tells_untaken_;
};

}  // namespace deputy
