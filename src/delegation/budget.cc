#include "delegation/budget.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <map>
#include <utility>

#include "base/text.h"
#include "delegation/profiles.h"

namespace deputy {

namespace {

Amount whole(const BudgetReserved& reserved) {
  return {.steps = 1, .tokens = reserved.tokens, .cost_micros = reserved.cost_micros};
}

bool answered(ReplyStop stop) {
  return stop == ReplyStop::finished || stop == ReplyStop::calls || stop == ReplyStop::paused ||
         stop == ReplyStop::output_limit;
}

std::string count(std::int64_t number) { return with_thousands(static_cast<std::uint64_t>(number)); }

struct Line {
  std::string_view what;
  std::string_view flag;
  std::int64_t need = 0;
  std::int64_t in_use = 0;
  std::int64_t limit = 0;
  std::string (*text)(std::int64_t);
};

std::string refusal(const Line& line) {
  return fmt::format(
      "budget exhausted: this may take up to {} {}, and of the {} that the whole tree may have {} are used "
      "or "
      "reserved. Finish with what you have, or ask the person to raise {}.",
      line.text(line.need), line.what, line.text(line.limit), line.text(line.in_use), line.flag);
}

bool is_of_a_request(const Fact& fact) {
  return std::holds_alternative<BudgetReserved>(fact) || std::holds_alternative<ReplyReceived>(fact) ||
         std::holds_alternative<RequestStopped>(fact) || std::holds_alternative<Retried>(fact) ||
         std::holds_alternative<Compacted>(fact);
}

// There was no room for the request.
bool was_not_asked(const Reply& reply) {
  return reply.stop == ReplyStop::over_budget && reply.usage == Usage{};
}

struct Used {
  struct Of {  // a session
    bool is_child = false;
    bool is_command = false;
    bool had_place = false;              // this run, for certain
    bool has_begun = false;              // this run: it was told what to do, and does not wait for a place
    std::optional<BudgetReserved> open;  // a request without an end
  };
  Amount amount;
  std::map<SessionId, Of> sessions;

  void apply(const Event& event) {
    Of& of = sessions[event.run.session];
    of.had_place = of.had_place || is_of_a_request(event.fact);
    if (const auto* created = std::get_if<SessionCreated>(&event.fact)) {
      of.is_child = created->session->parent.has_value();
      of.is_command = created->session->agent == kCommandAgent;
      if (of.is_child) amount.delegations += 1;
    } else if (const auto* started = std::get_if<RunStarted>(&event.fact)) {
      if (of.is_child && event.run.number > 1) amount.delegations += 1;  // resumed
      of.had_place = false;
      of.has_begun = started->task == RunTask::compact;  // there is nothing that it could be told
    } else if (std::holds_alternative<InputGiven>(event.fact)) {
      of.has_begun = true;
      if (event.run.number == 1) of.had_place = true;  // a further run is told before there is one
    } else if (const auto* changed = std::get_if<StateChanged>(&event.fact)) {
      if (changed->state == SessionState::running) of.has_begun = of.had_place = true;
      if (changed->waits_for == kPlace) of.has_begun = of.had_place;
    } else if (std::holds_alternative<RunEnded>(event.fact)) {
      if (of.is_child && !of.has_begun) amount.delegations -= 1;
    } else if (const auto* reserved = std::get_if<BudgetReserved>(&event.fact)) {
      if (of.open) amount = amount + whole(*of.open);
      of.open = *reserved;
    } else if (const auto* reply = std::get_if<ReplyReceived>(&event.fact)) {
      settle(of, reply->reply);
    } else if (const auto* compacted = std::get_if<Compacted>(&event.fact)) {
      settle(of, compacted->reply);
    } else if (const auto* stopped = std::get_if<RequestStopped>(&event.fact)) {
      amount = amount + amount_of(stopped->usage);
      of.open.reset();
    } else if (const auto* retried = std::get_if<Retried>(&event.fact)) {
      amount = amount + amount_of(retried->usage);
      if (retried->is_last) of.open.reset();
    }
  }

  void settle(Of& of, const Reply& reply) {
    if (was_not_asked(reply)) return;  // what a process before it left open stays so
    if (!of.is_command) amount = amount + amount_of(reply, of.open);
    of.open.reset();
  }
};

Used::Of last_run_of(const std::vector<Event>& session) {
  Used used;
  for (const auto& event : session) used.apply(event);
  return used.sessions.empty() ? Used::Of{} : used.sessions.begin()->second;
}

}  // namespace

std::string dollars(std::int64_t micros) { return fmt::format("${:.4f}", static_cast<double>(micros) / 1e6); }

Amount operator+(const Amount& a, const Amount& b) {
  return {a.delegations + b.delegations, a.steps + b.steps, a.tokens + b.tokens,
          a.cost_micros + b.cost_micros};
}

Amount operator-(const Amount& a, const Amount& b) {
  return {a.delegations - b.delegations, a.steps - b.steps, a.tokens - b.tokens,
          a.cost_micros - b.cost_micros};
}

Amount amount_of(const Usage& usage) {
  return {.tokens = usage.input + usage.output, .cost_micros = usage.cost_micros.value_or(0)};
}

Amount amount_of(const Reply& reply, const std::optional<BudgetReserved>& reserved) {
  Amount used = amount_of(reply.usage);
  if (used.tokens == 0 && answered(reply.stop)) return whole(reserved.value_or(BudgetReserved{}));
  if (!reply.usage.cost_micros && used.tokens > 0 && reserved) used.cost_micros = reserved->cost_micros;
  if (used.tokens > 0) used.steps = 1;
  return used;
}

bool limits_spending(const TreeLimits& limits) {
  constexpr auto kNone = kUnlimited<std::int64_t>;
  return limits.steps != kNone || limits.tokens != kNone || limits.cost_micros != kNone;
}

std::optional<std::string> refusal_of(const Amount& need, const Amount& in_use, const TreeLimits& limits) {
  if (need.delegations > 0 && limits.delegations != kUnlimited<int> &&
      need.delegations > limits.delegations - in_use.delegations) {
    return fmt::format(
        "budget exhausted: this tree has made {} of {} delegations. Finish with what you have, or ask the "
        "person to raise --max-delegations.",
        in_use.delegations, limits.delegations);
  }
  for (const auto& line : {Line{"steps", "--max-steps", need.steps, in_use.steps, limits.steps, count},
                           Line{"tokens", "--max-tokens", need.tokens, in_use.tokens, limits.tokens, count},
                           Line{"US dollars", "--max-cost", need.cost_micros, in_use.cost_micros,
                                limits.cost_micros, dollars}}) {
    if (line.need > line.limit - line.in_use) return refusal(line);
  }
  return std::nullopt;
}

Amount used_by(const std::vector<Event>& tree, const std::vector<Event>& further) {
  Used used;
  for (const auto* events : {&tree, &further}) {
    for (const auto& event : *events) used.apply(event);
  }
  for (const auto& [id, of] : used.sessions) {
    if (of.open) used.amount = used.amount + whole(*of.open);
  }
  return used.amount;
}

bool had_place(const std::vector<Event>& session) { return last_run_of(session).had_place; }

bool has_begun(const std::vector<Event>& session) { return last_run_of(session).has_begun; }

Budget::~Budget() { assert(held_ == Amount{} && "a reservation was leaked"); }

std::expected<Budget::Hold, std::string> Budget::reserve(const Amount& most) {
  if (auto refused = refusal_of(most, spent_ + held_, limits_)) return std::unexpected(*std::move(refused));
  held_ = held_ + most;
  return Hold(this, most);
}

Budget::Hold Budget::hold_again(const Amount& counted) {
  spent_ = spent_ - counted;
  held_ = held_ + counted;
  return Hold(this, counted);
}

Amount Budget::left() const {
  const Amount used = spent_ + held_;
  const auto of = [](std::int64_t limit, std::int64_t in_use) {
    return limit == kUnlimited<std::int64_t> ? limit : std::max<std::int64_t>(0, limit - in_use);
  };
  return {.delegations = of(limits_.delegations == kUnlimited<int> ? kUnlimited<std::int64_t>
                                                                   : std::int64_t{limits_.delegations},
                            used.delegations),
          .steps = of(limits_.steps, used.steps),
          .tokens = of(limits_.tokens, used.tokens),
          .cost_micros = of(limits_.cost_micros, used.cost_micros)};
}

Budget::Hold::Hold(Hold&& other) noexcept
    : budget_(std::exchange(other.budget_, nullptr)), amount_(std::exchange(other.amount_, {})) {}

Budget::Hold& Budget::Hold::operator=(Hold&& other) noexcept {
  if (this == &other) return *this;
  give_back();
  budget_ = std::exchange(other.budget_, nullptr);
  amount_ = std::exchange(other.amount_, {});
  return *this;
}

void Budget::Hold::spend(const Amount& used) {
  if (!budget_) return;
  const Amount out{std::min(used.delegations, amount_.delegations), std::min(used.steps, amount_.steps),
                   std::min(used.tokens, amount_.tokens), std::min(used.cost_micros, amount_.cost_micros)};
  amount_ = amount_ - out;
  budget_->held_ = budget_->held_ - out;
  budget_->spent_ = budget_->spent_ + used;
}

void Budget::Hold::settle(const Amount& used) {
  spend(used);
  give_back();
}

bool Budget::Hold::renew(const Amount& most) {
  if (!budget_) return false;
  const Amount others = budget_->spent_ + budget_->held_ - amount_;
  if (refusal_of(most, others, budget_->limits_)) return false;
  budget_->held_ = budget_->held_ - amount_ + most;
  amount_ = most;
  return true;
}

Budget::Hold Budget::Hold::split(const Amount& part) {
  amount_ = amount_ - part;
  return Hold(budget_, part);
}

void Budget::Hold::give_back() {
  if (budget_) budget_->held_ = budget_->held_ - amount_;
  budget_ = nullptr;
  amount_ = {};
}

}  // namespace deputy
