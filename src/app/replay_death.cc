#include "app/replay_death.h"

#include "app/replay_course.h"

namespace deputy {

// What is no step goes with the step before it, but for what was reserved: that is on record or not.
std::vector<Event> left_by_death(const std::vector<Event>& told, std::size_t before, const Places& places,
                                 const std::map<std::string, Progress>& then) {
  std::map<std::string, Progress> so_far;
  std::vector<Event> left;
  for (std::size_t at = 0; at < told.size(); ++at) {
    const Event& event = told[at];
    const std::string& place = places.of(event.run.session);
    const auto known = then.find(place);
    const Progress most = known == then.end() ? Progress{} : known->second;
    Progress& made = so_far[place];
    if (is_step(event.fact) || made.events > most.events) ++made.events;
    const bool is_reserved = std::holds_alternative<BudgetReserved>(event.fact);
    if (is_reserved) ++made.reserved;
    const bool is_later = made.events > most.events || (is_reserved && made.reserved > most.reserved);
    if (at < before || !is_later) left.push_back(event);
  }
  return left;
}

}  // namespace deputy
