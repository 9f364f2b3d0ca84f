// A provider under its tree's budget. What a request may come to at most is reserved, and durable before it
// is made, but for a run's first one where spending is not limited, which would cost a sync: its input by a
// careful estimate, its output by its cap, both at the model's price. Where the whole cap has no room, less
// is asked for; where not even a useful answer has, nothing is sent, and the reply says so. Failed attempts
// count; each further one is reserved for anew. A request that ended before its provider said what it used
// counts with all that was reserved for it, unless nobody took it; so the journal has it, too. Beside each
// request enough is kept back for one last step, so that a run that meets the limit can still report.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "delegation/budget.h"
#include "delegation/own_journal.h"
#include "model/provider.h"
#include "transcript/session.h"

namespace deputy {

class BudgetedProvider final : public Provider {
 public:
  struct Parts {
    Provider& inner;
    Budget& budget;
    const OwnJournal& journal;  // what a request comes to that is not recorded any more counts in full
    // What was reserved when the session was admitted: for its first request.
    Budget::Hold first;
    bool has_asked = true;  // this run, before: what that may have come to is on record
  };
  explicit BudgetedProvider(Parts parts) : parts_(std::move(parts)), kept_(std::move(parts_.first)) {}

  std::string_view name() const override { return parts_.inner.name(); }
  std::string encode(const Message& message) const override { return parts_.inner.encode(message); }
  std::vector<Fact> before(const Request& request) override;
  Task<Reply> ask(Request request, DeltaSink deltas, StopToken stop) override;
  std::int64_t window(const ModelName& model) const override { return parts_.inner.window(model); }
  std::optional<Price> price(const ModelName& model) const override { return parts_.inner.price(model); }

 private:
  struct Reserved {
    Budget::Hold hold;
    BudgetReserved most;
    std::int64_t input = 0;
    int max_output_tokens = 0;
    bool is_lowered = false;  // for want of room
    std::optional<Price> price = {};
    // What a request without a whole answer may have come to, by what was told of it.
    Usage most_of(const Usage& told) const;
  };
  std::expected<Reserved, std::string> reserve(const Request& request);

  struct Asking;
  static Task<Reply> refused(Reply reply);
  static Task<Reply> answered(std::unique_ptr<Asking> asking, Task<Reply> answer);

  Parts parts_;
  Budget::Hold kept_;  // for the request that comes next, or the last one
  std::optional<std::expected<Reserved, std::string>> next_;  // for the request that is about to be made
};

// What a request may come to of which nothing was recorded before it was made.
BudgetReserved most_for_request(const Provider& provider, const RequestPrefix& prefix,
                                std::span<const Message> messages, const std::optional<Measured>& measured);

// Whether its run may have made its first request without a trace, as it may where spending was not limited.
bool may_have_asked(const std::vector<Event>& session);

// What the first request of a session's next run holds, as far as it can be known before that: its prompt, or
// all that was said in the runs before and what is said `further` to begin this one. `events` are the
// session's own.
std::int64_t first_input(const Session& session, const std::vector<Event>& events, std::string_view further);
// What a request with so much input may come to. The error is why it cannot be had under these limits: its
// price is not known.
std::expected<Amount, std::string> first_request(const Provider& provider, const ModelName& model,
                                                 std::int64_t input, int max_output_tokens,
                                                 const TreeLimits& limits);

}  // namespace deputy
