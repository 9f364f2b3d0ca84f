#include "delegation/lost_work.h"

#include "async/pool.h"
#include "delegation/tree.h"
#include "tools/lost_commands.h"

namespace deputy {
namespace {

Task<std::optional<CommandRecord>> record_of(const TreeServices* services, CallId call) {
  if (!services->state) co_return std::nullopt;
  auto record = co_await on_pool(services->loop, services->pool, [state = services->state, call] {
    return read_command_record(*state, call);
  });
  co_return record ? std::optional(*std::move(record)) : std::nullopt;
}

}  // namespace

Task<Result<void>> tell_of_lost_commands(const TreeServices* services, Session session,
                                         std::vector<Event> events, Conversation& so_far) {
  Store& store = services->store;
  std::vector<Event> told;
  for (const LostCommand& lost : lost_commands(events)) {
    Nudged nudge = told_of(lost, co_await record_of(services, lost.call));
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
