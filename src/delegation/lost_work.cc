#include "delegation/lost_work.h"

#include "tools/lost_commands.h"

namespace deputy {

Task<Result<void>> tell_of_lost_commands(Store& store, Session session, std::vector<Event> events,
                                         Conversation& so_far) {
  std::vector<Event> told;
  for (auto& nudge : lost_commands(events)) {
    Event event;
    event.tree = session.tree;
    event.run = {session.id, session.run};
    event.step = so_far.step;
    event.fact = store.as_kept(std::move(nudge));
    told.push_back(std::move(event));
  }
  if (told.empty()) co_return Result<void>{};
  for (const Event& event : told) apply(so_far, event);
  co_return co_await store.record(std::move(told));
}

}  // namespace deputy
