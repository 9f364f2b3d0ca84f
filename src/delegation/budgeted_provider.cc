#include "delegation/budgeted_provider.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "agent/conversation.h"
#include "model/context_estimate.h"
#include "model/cost.h"
#include "model/offline.h"

namespace deputy {

namespace {

// An answer that may not even have so many tokens is not worth a request.
constexpr std::int64_t kUsefulOutput = 256;

// What a last step adds to the conversation, and may say.
constexpr std::int64_t kLastInput = 512;
constexpr std::int64_t kLastOutput = 1024;

// More than the estimate, since it may be wrong and the limit must hold.
std::int64_t at_most(std::int64_t estimated) { return estimated + estimated / 4 + 64; }

std::int64_t micros(std::int64_t tokens, double price) {
  return static_cast<std::int64_t>(std::ceil(static_cast<double>(tokens) * price));
}

double dearest_input(const Price& price) {
  return std::max({price.input, price.cache_write.value_or(0), price.cache_read.value_or(0)});
}

std::expected<Price, std::string> price_of(const Provider& provider, const ModelName& model,
                                           const TreeLimits& limits) {
  const auto price = provider.price(model);
  if (price || limits.cost_micros == kUnlimited<std::int64_t>) return price.value_or(Price{});
  return std::unexpected(fmt::format(
      "budget exhausted: the price of {} is not known, so it cannot be used under --max-cost ({}). "
      "Use a model with a known price, or ask the person to set input and output under "
      "[models.\"{}\"] in the settings.",
      model.value, dollars(limits.cost_micros), model.value));
}

BudgetReserved most_for(std::int64_t input, std::int64_t output, const Price& price) {
  return {input + output, micros(input, dearest_input(price)) + micros(output, price.output)};
}

Amount as_amount(const BudgetReserved& most) {
  return {.steps = 1, .tokens = most.tokens, .cost_micros = most.cost_micros};
}

// An answer without a cap is still one that the model's window holds.
std::int64_t most_output(const Provider& provider, const RequestPrefix& prefix) {
  return std::min<std::int64_t>(prefix.max_output_tokens, provider.window(prefix.model));
}

// How much of `wanted` output there is room for beside the input.
std::int64_t output_room(std::int64_t wanted, std::int64_t input, const Price& price, const Amount& left) {
  std::int64_t room = std::min(wanted, left.tokens - input);
  if (price.output > 0 && left.cost_micros < kUnlimited<std::int64_t> / 2) {
    const auto rest = left.cost_micros - micros(input, dearest_input(price));
    room =
        std::min(room, static_cast<std::int64_t>(std::floor(static_cast<double>(rest - 1) / price.output)));
  }
  return std::max<std::int64_t>(0, room);
}

Reply over_budget(const ModelName& model, std::string why) {
  return {.stop = ReplyStop::over_budget,
          .model = model,
          .message = {.role = Role::assistant},
          .error = std::move(why)};
}

// An answer that came without a count is charged all that was reserved (amount_of), but it must not say so:
// the next request would take it for a measure of this one, and grow without end.
bool is_counted(const Reply& reply) {
  if (reply.stop == ReplyStop::stopped || is_failure(reply.stop)) return false;
  return reply.stop != ReplyStop::refused || reply.usage.input > 0 || reply.usage.output > 0;
}

std::shared_ptr<const RequestPrefix> with_cap(const std::shared_ptr<const RequestPrefix>& prefix, int cap) {
  if (prefix->max_output_tokens <= cap) return prefix;
  auto capped = std::make_shared<RequestPrefix>(*prefix);
  capped->max_output_tokens = cap;
  return capped;
}

}  // namespace

bool may_have_asked(const std::vector<Event>& session) {
  return !conversation_of(session).asked && has_begun(session);
}

std::int64_t first_input(const Session& session, const std::vector<Event>& events, std::string_view further) {
  const Conversation so_far = conversation_of(events);
  if (so_far.messages.empty()) return tokens_in(session.prompt);
  return estimated_input(0, session.model, told(so_far), so_far.measured) + tokens_in(further);
}

std::expected<Amount, std::string> first_request(const Provider& provider, const ModelName& model,
                                                 std::int64_t input, int max_output_tokens,
                                                 const TreeLimits& limits) {
  auto price = price_of(provider, model, limits);
  if (!price) return std::unexpected(std::move(price).error());
  const auto output = std::min<std::int64_t>(max_output_tokens, kUsefulOutput);
  return as_amount(most_for(at_most(input), output, *price));
}

BudgetReserved most_for_request(const Provider& provider, const RequestPrefix& prefix,
                                std::span<const Message> messages, const std::optional<Measured>& measured) {
  const auto input = at_most(estimated_input(estimated_tokens(prefix), prefix.model, messages, measured));
  return most_for(input, most_output(provider, prefix), provider.price(prefix.model).value_or(Price{}));
}

std::expected<BudgetedProvider::Reserved, std::string> BudgetedProvider::reserve(const Request& request) {
  Budget& budget = parts_.budget;
  kept_.give_back();  // to be taken again at once, in its true size
  auto price = price_of(parts_.inner, request.prefix->model, budget.limits());
  if (!price) return std::unexpected(std::move(price).error());
  const auto input = at_most(estimated_input(request));
  const std::int64_t wanted = most_output(parts_.inner, *request.prefix);
  const auto last_step = [&](std::int64_t from) {
    return as_amount(most_for(from + kLastInput, std::min(wanted, kLastOutput), *price));
  };
  const auto try_beside = [&](const Amount& kept) -> std::expected<Reserved, std::string> {
    const auto room = output_room(wanted, input, *price, budget.left() - kept);
    const auto output = std::max(room, std::min(wanted, kUsefulOutput));
    const auto most = most_for(input, output, *price);
    auto hold = budget.reserve(as_amount(most) + kept);
    if (!hold) return std::unexpected(std::move(hold).error());
    kept_ = hold->split(kept);
    return Reserved{*std::move(hold),
                    most,
                    input,
                    static_cast<int>(output),
                    output < wanted,
                    parts_.inner.price(request.prefix->model)};
  };
  if (request.is_last) return try_beside({});
  auto reserved = try_beside(last_step(input + wanted));
  // A first step is worth more than a last one, also of a run that goes on, and a root gets no other.
  const bool is_first = !parts_.has_asked || request.replies_before + step_of(request.messages) == 0;
  if (!reserved && (request.depth == 0 || is_first)) reserved = try_beside({});
  if (!reserved) {
    if (auto last = budget.reserve(last_step(input))) kept_ = *std::move(last);
  }
  return reserved;
}

// A provider counts what it thought and wrote before anybody heard of it, and says how much that was only at
// the end. Its input it knows from the beginning.
Usage BudgetedProvider::Reserved::most_of(const Usage& told) const {
  if (told == kUntaken) return told;
  Usage used = told;
  used.output = std::max<std::int64_t>(told.output, max_output_tokens);
  if (told.input == 0) used.input = input;
  if (price) {
    used.cost_micros =
        std::max(told.cost_micros.value_or(0), told.input == 0 ? most.cost_micros : cost_of(used, *price));
  }
  return used;
}

std::vector<Fact> BudgetedProvider::before(const Request& request) {
  next_ = reserve(request);
  const bool is_first = !std::exchange(parts_.has_asked, true);
  if (!*next_ || (is_first && !limits_spending(parts_.budget.limits()))) return {};
  return {(*next_)->most};
}

// One request under way.
struct BudgetedProvider::Asking {
  Asking(const OwnJournal& told, Reserved what, std::shared_ptr<const RequestPrefix> of, DeltaSink sink,
         StopToken token)
      : journal(told),
        reserved(std::move(what)),
        prefix(std::move(of)),
        deltas(std::move(sink)),
        stop(std::move(token)),
        own(stop) {}
  Asking(const Asking&) = delete;
  // Of a request that came to no end, by a bug or because whoever asked is gone, nobody knows what it used:
  // it counts in full, as the journal counts it.
  ~Asking() {
    if (!is_settled) reserved.hold.settle(in_full());
  }

  void watch(const Delta& delta);
  void settle(Reply& reply);
  Amount in_full() const { return is_over ? Amount{} : reserved.hold.amount(); }
  Amount come_to(const Reply& reply) const;

  const OwnJournal& journal;
  Reserved reserved;
  std::shared_ptr<const RequestPrefix> prefix;
  DeltaSink deltas;
  StopToken stop;
  StopSource own;
  std::int64_t failed_tokens = 0;  // of the last attempt that failed
  bool is_over = false;
  bool is_settled = false;
};

// No coroutine: one would hold all that it takes and makes for as long as the answer comes.
Task<Reply> BudgetedProvider::ask(Request request, DeltaSink deltas, StopToken stop) {
  auto reserved = std::exchange(next_, std::nullopt).value();
  if (!reserved) return refused(over_budget(request.prefix->model, std::move(reserved).error()));
  request.prefix = with_cap(request.prefix, reserved->max_output_tokens);
  auto asking = std::make_unique<Asking>(parts_.journal, *std::move(reserved), request.prefix,
                                         std::move(deltas), std::move(stop));
  auto answer = parts_.inner.ask(
      std::move(request), [one = asking.get()](const Delta& delta) { one->watch(delta); },
      asking->own.token());
  return answered(std::move(asking), std::move(answer));
}

Task<Reply> BudgetedProvider::refused(Reply reply) { co_return reply; }

Task<Reply> BudgetedProvider::answered(std::unique_ptr<Asking> asking, Task<Reply> answer) {
  Reply reply = co_await std::move(answer);
  asking->settle(reply);
  co_return reply;
}

void BudgetedProvider::Asking::watch(const Delta& delta) {
  const auto* retried = std::get_if<Retried>(&delta);
  if (!retried) {
    if (deltas) deltas(delta);
    return;
  }
  if (journal.is_closed()) return own.request(StopReason::stalled);  // it is charged in full as it is
  Retried again = *retried;
  again.usage = reserved.most_of(retried->usage);
  const Amount failed = amount_of(again.usage);
  failed_tokens = failed.tokens;
  if (failed != Amount{}) {
    reserved.hold.spend(failed);
    is_over = again.is_last = !reserved.hold.renew(as_amount(reserved.most));
    if (is_over) again.wait = {};
  }
  if (deltas) deltas(std::move(again));
  if (is_over) own.request(StopReason::stalled);
}

Amount BudgetedProvider::Asking::come_to(const Reply& reply) const {
  if (journal.is_closed()) return in_full();
  return reply.stop == ReplyStop::stopped ? amount_of(reply.usage) : amount_of(reply, reserved.most);
}

void BudgetedProvider::Asking::settle(Reply& reply) {
  if (!is_counted(reply)) reply.usage = reserved.most_of(reply.usage);
  is_settled = true;
  reserved.hold.settle(come_to(reply));
  if (is_over && reply.stop == ReplyStop::stopped && !stop.stopped()) {
    const Usage used = reply.usage;
    reply = over_budget(
        prefix->model, fmt::format("budget exhausted: an attempt that failed has used {} tokens, and what is "
                                   "left is not enough for another. Ask the person to raise --max-cost or "
                                   "--max-tokens.",
                                   failed_tokens));
    reply.usage = used;
  }
  if (reserved.is_lowered && reply.stop == ReplyStop::output_limit) {
    reply.stop = ReplyStop::over_budget;
    reply.error = fmt::format(
        "budget exhausted: the answer was cut off after {} tokens, for which there was "
        "just room. Ask the person to raise --max-cost or --max-tokens.",
        reply.usage.output);
  }
}

}  // namespace deputy
