#include "delegation/lost_work.h"

#include "async/pool.h"
#include "delegation/tree.h"
#include "tools/lost_commands.h"

namespace deputy {
namespace {

struct Found {
  std::optional<CommandRecord> record;
  std::string files;  // written since it began, where it was in the middle
};

Task<Found> look_for(const TreeServices* services, std::string workspace, CallId call) {
  if (!services->state) co_return Found{};
  const auto look = [services, workspace = std::move(workspace), call] {
    auto record = read_command_record(*services->state, call);
    Found found{.record = record ? *std::move(record) : std::nullopt};
    if (!found.record || !found.record->was_in_the_middle()) return found;
    if (const auto folder = services->disk.open(workspace, IfAbsent::fail))
      found.files = told_of_files_since(**folder, found.record->written);
    return found;
  };
  co_return co_await on_pool(services->loop, services->pool, look);
}

}  // namespace

Task<Result<void>> tell_of_lost_commands(const TreeServices* services, Session session,
                                         std::vector<Event> events, Conversation& so_far) {
  Store& store = services->store;
  std::vector<Event> told;
  for (const LostCommand& lost : lost_commands(events)) {
    const Found found = co_await look_for(services, session.workspace, lost.call);
    Nudged nudge = told_of(lost, found.record, found.files);
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
