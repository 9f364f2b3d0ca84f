#include "app/engine.h"

#include <set>
#include <utility>

#include "app/home_bell.h"
#include "app/places.h"
#include "app/sandbox_memory.h"
#include "async/sleep.h"
#include "base/random.h"
#include "delegation/report_pruning.h"
#include "store/sqlite/leftovers.h"

namespace deputy {
namespace {

// Another process is heard within twice this: also where nothing tells that it has written.
constexpr Duration kInboxEvery = std::chrono::milliseconds(80);

// To seal takes the database's write lock. Who waits for it asks again within 100 ms and gives up after 5 s.
constexpr std::size_t kSealedInARow = 8;
constexpr Duration kTurnOfOthers = std::chrono::milliseconds(150);

// No command sees deputy's own state.
std::vector<std::string> state_folders(const Program& program) {
  const auto home = program.open_home();
  return home ? std::vector{(*home)->path()} : std::vector<std::string>{};
}

std::function<std::unique_ptr<Bell>()> bell_of(Program& program) {
  return [&loop = program.loop, folders = state_folders(program)]() -> std::unique_ptr<Bell> {
    return folders.empty() ? nullptr : home_bell(loop, folders.front());
  };
}

std::shared_ptr<const Folder> state_folder_of(const Program& program) {
  auto home = program.open_home();
  return home ? *std::move(home) : nullptr;
}

void set(std::size_t& bound, const std::optional<int>& by) {
  if (by) bound = static_cast<std::size_t>(*by);
}

ReportBounds report_bounds(Program& program) {
  ReportBounds bounds;
  const auto loaded = program.settings();
  if (!loaded) return bounds;
  set(bounds.report_bytes, (*loaded)->settings.reports.report_bytes);
  set(bounds.batch_bytes, (*loaded)->settings.reports.batch_bytes);
  return bounds;
}

ContextBounds context_bounds(Program& program) {
  ContextBounds bounds;
  const auto loaded = program.settings();
  if (!loaded) return bounds;
  set(bounds.file_bytes, (*loaded)->settings.context.file_bytes);
  set(bounds.task_bytes, (*loaded)->settings.context.task_bytes);
  return bounds;
}

}  // namespace

Task<> Engine::find_out_level(Program& program, RootBrief* root) {
  const SandboxMemory memory(program.disk, program.open_home().value_or(nullptr), init_path());
  const auto known = memory.recall();
  if (known) processes.assume(*known);
  if (!root) co_return;  // one that is resumed has it recorded
  const auto found = co_await processes.capability({});
  root->sandbox_level = static_cast<int>(found ? found->level : SandboxLevel::none);
  if (found && !known) memory.keep(*found);
}

Task<> Engine::see_to_leftovers(Program& program, StopToken stop) {
  auto home = program.open_home();
  if (!home) co_return;
  const std::shared_ptr<Folder> folder = *std::move(home);
  const WallTime now = program.loop.clock().wall();
  const auto left =
      co_await on_pool(program.loop, pool, [folder, now] { return unsealed_transcripts(*folder, now); });
  std::size_t in_a_row = 0;
  for (const Leftover& each : left.value_or(std::vector<Leftover>{})) {
    (void)co_await on_pool(program.loop, pool, [folder, each] { return seal_leftover(*folder, each); });
    if (++in_a_row % kSealedInARow == 0) (void)co_await sleep_for(program.loop, kTurnOfOthers, stop);
    if (stop.stopped()) co_return;
  }
  (void)co_await on_pool(program.loop, pool, [folder, now] { return prune_files(*folder, now); });
}

Attendance attendance_of(const Program& program) {
  if (program.common.approve_all) return Attendance::approves_all;
  // Who sent a task to the background answers it from another process.
  return program.looks.person || program.announcer ? Attendance::person : Attendance::nobody;
}

Engine::Engine(Program& program, Parts parts)
    : processes(program.loop, {.init_path = init_path(), .hidden = state_folders(program)}),
      runtime({.loop = program.loop,
               .pool = pool,
               .disk = program.disk,
               .processes = processes,
               .random = random,
               .store = std::move(parts.store),
               .models = std::move(parts.models),
               .profiles = std::move(parts.profiles),
               .network = &program.connections.network,
               .state = state_folder_of(program)},
              {.limits = parts.limits,
               .attendance = attendance_of(program),
               .tools = std::move(parts.tools),
               .home = program.environment.get("HOME").value_or(""),
               .hidden = state_folders(program),
               .reports = report_bounds(program),
               .context = context_bounds(program),
               .inbox_every = kInboxEvery,
               .bell = bell_of(program),
               .holds_last = parts.holds_last}) {}

Task<> Engine::prune_what_is_old(Program& program) {
  auto home = program.open_home();
  if (!home) co_return;
  const std::shared_ptr<Folder> folder = *std::move(home);
  const auto now = program.loop.clock().wall();
  const auto is_due = co_await on_pool(program.loop, pool, [folder, now]() -> Result<bool> {
    TRY(prune_errors_log(*folder, now));
    return has_old_reports(*folder, now);
  });
  if (!is_due || !*is_due) co_return;
  const auto live = runtime.store().sessions({.unfinished_only = true, .most = kAllSessions});
  if (!live) co_return;
  std::set<SessionId> unfinished;
  for (const Session& session : *live) unfinished.insert(session.id);
  (void)co_await on_pool(program.loop, pool,
                         [folder, unfinished, now] { return prune_reports(*folder, now, unfinished); });
}

}  // namespace deputy
