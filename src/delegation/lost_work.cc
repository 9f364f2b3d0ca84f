#include "delegation/lost_work.h"

#include "async/pool.h"
#include "delegation/tree.h"
#include "store/sqlite/leftovers.h"
#include "tools/kept_back.h"
#include "tools/lost_commands.h"

namespace deputy {
namespace {

struct Found {
  std::optional<CommandRecord> record;
  std::string evidence;  // the files written since it began, where it was in the middle; what was set aside
};

Task<Found> look_for(const TreeServices* services, std::string workspace, LostCommand lost) {
  if (!services->state) co_return Found{};
  const bool is_recent = services->loop.clock().wall() - lost.at <= kKeptFor;
  const auto look = [services, workspace = std::move(workspace), lost = std::move(lost), is_recent] {
    const auto record = read_command_record(*services->state, lost.call);
    Found found{.record = record ? *record : std::nullopt};
    // A call has its record before it begins a command, and its result after that.
    if (record && !found.record && !lost.has_result && is_recent) found.record = CommandRecord{};
    if (!found.record || !found.record->had_begun()) return found;
    const auto folder = services->disk.open(workspace, IfAbsent::fail);
    if (!folder) return found;
    if (found.record->was_in_the_middle())
      found.evidence = told_of_files_since(**folder, found.record->written);
    if (found.record->known) found.evidence += set_aside_new(**folder, *found.record->known);
    return found;
  };
  co_return co_await on_pool(services->loop, services->pool, look);
}

// Whether the run's own ledger still lacks how the command ended.
bool is_open(const Conversation& so_far, const CallId& call) {
  const auto found = so_far.command_of.find({call.step, call.index});
  return found != so_far.command_of.end() && !so_far.commands[found->second].exit_status;
}

}  // namespace

Task<Result<void>> tell_of_lost_commands(const TreeServices* services, Session session,
                                         std::vector<Event> events, Conversation& so_far) {
  Store& store = services->store;
  std::vector<Event> told;
  const auto add = [&](Fact fact, int step, int call) {
    Event event;
    event.tree = session.tree;
    event.run = {session.id, session.run};
    event.step = step;
    event.call = call;
    event.fact = store.as_kept(std::move(fact));
    told.push_back(std::move(event));
  };
  for (const LostCommand& lost : lost_commands(events)) {
    const Found found = co_await look_for(services, session.workspace, lost);
    const auto& record = found.record;
    if (record && record->status.exit_status && is_open(so_far, lost.call))
      add(CommandEnded{*record->status.exit_status}, lost.call.step, lost.call.index);
    add(told_of(lost, record, found.evidence), so_far.step, -1);
  }
  if (told.empty()) co_return Result<void>{};
  for (const Event& event : told) apply(so_far, event);
  co_return co_await store.record(std::move(told));
}

}  // namespace deputy
