#include "store/unique_facts.h"

#include <fmt/format.h>

namespace deputy {

bool must_be_unique(const Fact& fact) {
  return std::holds_alternative<CallStarted>(fact) || std::holds_alternative<CallFinished>(fact) ||
         std::holds_alternative<RunEnded>(fact) || std::holds_alternative<Delivered>(fact);
}

bool same_place_and_kind(const Event& a, const Event& b) {
  if (const auto* delivered = std::get_if<Delivered>(&a.fact)) {
    const auto* other = std::get_if<Delivered>(&b.fact);
    return other && a.run.session == b.run.session && delivered->item == other->item;
  }
  return a.run == b.run && a.fact.index() == b.fact.index() &&
         (std::holds_alternative<RunEnded>(a.fact) || (a.step == b.step && a.call == b.call));
}

Error recorded_twice(const Event& event) {
  return {ErrorCode::internal,
          fmt::format("a second '{}' record for {} run {} step {} call {}", kind_of(event.fact),
                      event.run.session.value, event.run.number, event.step, event.call),
          "this is a bug in deputy: please report it with `deputy sessions export`"};
}

Error fenced_off(const SessionId& tree) {
  return {ErrorCode::busy, fmt::format("another deputy process has taken over {}", tree.value),
          fmt::format("continue there, or take it back with `deputy resume {}`", tree.value)};
}

Error held_elsewhere(const SessionId& tree, std::string_view holder) {
  return {ErrorCode::busy, fmt::format("{} is run by {}", tree.value, holder),
          fmt::format("follow it with `deputy sessions tail {0}`, stop it with `deputy sessions cancel {0}`, "
                      "or leave that chat, or end that process, and resume",
                      tree.value)};
}

}  // namespace deputy
