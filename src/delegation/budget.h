// What a tree may spend, as one account: what is reserved is either spent or given back, and what was spent
// and what is left always come to the limits. Reserving is one decision with nothing between looking and
// taking, so one free place admits exactly one.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <vector>

#include "transcript/event.h"
#include "transcript/limits.h"

namespace deputy {

struct Amount {
  std::int64_t delegations = 0;
  std::int64_t steps = 0;
  std::int64_t tokens = 0;  // in and out
  std::int64_t cost_micros = 0;
  bool operator==(const Amount&) const = default;
};
Amount operator+(const Amount& a, const Amount& b);
Amount operator-(const Amount& a, const Amount& b);

Amount amount_of(const Usage& usage);
// What a request came to, by the reservation that was made for it. A provider that does not tell what it used
// is taken to have used all of it.
Amount amount_of(const Reply& reply, const std::optional<BudgetReserved>& reserved);

// Whether steps, tokens or dollars are limited at all.
bool limits_spending(const TreeLimits& limits);

// Nothing where `need` fits beside what is in use; else which limit it does not fit, for the model.
std::optional<std::string> refusal_of(const Amount& need, const Amount& in_use, const TreeLimits& limits);

// What a tree has used by its journal, also before its spending was limited. A request that a dying process
// left open counts with all that was reserved for it: nobody knows how far it got. The words of a command are
// no steps, and a child that was stopped before there was a place for it is no delegation.
Amount used_by(const std::vector<Event>& tree, const std::vector<Event>& further = {});
// Whether the last run of the session that these are of has had a place to run: until then it may come to no
// delegation.
bool had_place(const std::vector<Event>& session);
// Whether that run has begun, so that its model may have been asked.
bool has_begun(const std::vector<Event>& session);

class Budget {
 public:
  explicit Budget(const TreeLimits& limits, const Amount& used = {}) : limits_(limits), spent_(used) {}
  Budget(const Budget&) = delete;
  ~Budget();

  // What was reserved, until it is spent; the rest is given back when it dies.
  class Hold {
   public:
    Hold() = default;
    Hold(Hold&& other) noexcept;
    Hold& operator=(Hold&& other) noexcept;
    ~Hold() { give_back(); }

    // Takes `used` out of it; more than it holds is taken all the same.
    void spend(const Amount& used);
    // Spends, and gives the rest back.
    void settle(const Amount& used);
    // As much as `most` again; nothing changes where that cannot be had.
    bool renew(const Amount& most);
    void give_back();
    // A part of it that goes its own way.
    Hold split(const Amount& part);
    const Amount& amount() const { return amount_; }

   private:
    friend class Budget;
    Hold(Budget* budget, const Amount& amount) : budget_(budget), amount_(amount) {}
    Budget* budget_ = nullptr;
    Amount amount_;
  };
  // All of it or nothing.
  std::expected<Hold, std::string> reserve(const Amount& most);
  // What a journal counted as spent and may yet come to nothing: of a child that still waits for its place.
  Hold hold_again(const Amount& counted);

  const TreeLimits& limits() const { return limits_; }
  const Amount& spent() const { return spent_; }
  const Amount& held() const { return held_; }
  Amount left() const;  // never less than nothing

 private:
  TreeLimits limits_;
  Amount spent_;
  Amount held_;
};

// "$0.0123".
std::string dollars(std::int64_t micros);

}  // namespace deputy
