// One run of a session in a tree, from its place to its end, by force where it takes no other.
#include <exception>
#include <new>
#include <utility>

#include "async/apart.h"
#include "delegation/tree_run.h"

namespace deputy {

namespace {

constexpr Duration kAnotherMoment = std::chrono::seconds(1);

Error error_of(const std::exception_ptr& bug) {
  try {
    std::rethrow_exception(bug);
  } catch (const std::bad_alloc&) {
    return {ErrorCode::internal, "out of memory; let fewer sessions run at once with --max-live", ""};
  } catch (const std::exception& known) {
    return {ErrorCode::internal, std::string("a bug in deputy: ") + known.what(), ""};
  }
}

}  // namespace

void Tree::tell_moved(const RunId& run, const std::optional<WallTime>& deadline) {
  if (deadline) running_.move_deadline(run.session, *deadline);
  const auto recorded = on_record(run.session, deadline);
  if (!recorded) return;
  std::vector<Event> events(1);
  events[0].tree = id_;
  events[0].run = run;
  events[0].fact = DeadlineMoved{*recorded};
  services_.store.ride_along(std::move(events));
}

void Tree::end_clock_of(const SessionId& id) {
  for (const auto& moved : deadlines_.end(id)) tell_moved(moved.run, moved.deadline);
}

Task<Result<Boxed<Report>>> Tree::to_a_report(RunId id, Beginning begin, StopToken stop) {
  Children::Ended report = std::unexpected(Error::cancelled());
  std::exception_ptr bug;
  try {
    // Neither what it was made from is kept while it runs, nor the task that began it.
    auto run = co_await apart([&] { return std::exchange(begin, nullptr)(stop); });
    if (!run) {
      report = std::unexpected(std::move(run).error());
    } else if (*run) {
      report = co_await oversee(*std::move(run));
    } else {
      report = report_of_ended(id.session);
    }
  } catch (...) {
    bug = std::current_exception();
  }
  if (report && !bug) co_return report;
  const bool is_left = !bug && id.session == id_;  // a root that meets an error is gone on with later
  if (bug) report = std::unexpected(error_of(bug));
  if (is_left || suspends(stop.reason())) co_return report;
  co_return co_await apart([&] { return end_broken(std::move(id), std::move(report).error()); });
}

Task<Result<Boxed<Report>>> Tree::end_broken(RunId id, Error error) {
  if (!co_await services_.store.record({}))
    co_return std::unexpected(std::move(error));  // nor can its end be
  const auto known = services_.store.session(id.session);
  const auto events = services_.store.events_of_session(id.session);
  if (!known || !*known || !events) co_return std::unexpected(std::move(error));
  Session session = as_started(**known, *events);
  session.run = id.number;  // which may not be on record yet
  Finish broken{Status::failed, Reason::internal, to_text(error)};
  CO_TRY(auto report, co_await record_end(std::move(session), std::move(broken)));
  co_await log_errors(id.session, report);
  co_return report;
}

// However a session's run ends, its clocks stand and its place is free.
struct Tree::Leaving {
  Tree& tree;
  const SessionId& id;
  ~Leaving() {
    tree.deadlines_.end(id);
    tree.live_.erase(id);
  }
};

std::shared_ptr<Tree::Run> Tree::new_run(Session&& session, std::unique_ptr<Conversation> so_far,
                                         std::optional<Slots::Place> place, Budget::Hold admitted,
                                         StopToken stop) {
  OwnJournal journal(services_.store, deadlines_, session.id);
  return std::make_shared<Run>(services_.loop, std::move(stop), std::move(journal), std::move(session),
                               std::move(so_far), std::move(place), std::move(admitted));
}

Task<Result<Boxed<Report>>> Tree::oversee(std::shared_ptr<Run> run) {
  const SessionId& id = run->session.id;
  {
    const Leaving leaving{*this, id};
    Live& live = live_[id];
    live.place = std::move(run->place);
    live.first = std::move(run->admitted);
    const auto on_own_stop = run->own.token().on_stop([this, weak = std::weak_ptr(run)] {
      const auto stopped = weak.lock();
      // At a limit of its own it has a step left to report in.
      if (stopped) force_after(stopped, stopped->above.stopped() ? kEndTime : kGraceTime + kEndTime);
    });
    const auto on_stop = run->above.on_stop([this, weak = std::weak_ptr(run)] {
      if (const auto stopped = weak.lock()) force_after(stopped, kEndTime);
    });
    runs_.spawn(drive(run));
    const bool has_ended = co_await run->ended.wait();
    run->keep_waiting();
    if (run->bug) std::rethrow_exception(run->bug);
    if (!has_ended) run->report = co_await end_by_force(run);
    end_clock_of(id);
  }
  if (run->report) co_await apart([&] { return log_errors(id, *run->report); });
  co_return std::move(run->report);
}

// A run that was let go reports to nobody.
Task<> Tree::drive(std::shared_ptr<Run> run) {
  try {
    auto report = co_await run_session(run);
    if (!run->ended.resumed()) run->report = std::move(report);
  } catch (...) {
    run->bug = std::current_exception();
  }
  lost_.erase(run->session.id);
  run->ended.resume(true);
}

// Not while it waits for the ends of its children: theirs are forced first.
void Tree::force_after(const std::shared_ptr<Run>& run, Duration patience) {
  const auto force = [this, weak = std::weak_ptr(run)] {
    const auto late = weak.lock();
    if (!late || late->ended.resumed()) return;
    late->timer.reset();
    if (!running_.live_of(late->session.id).empty()) return force_after(late, kAnotherMoment);
    late->journal.close();
    lost_.insert(late->session.id);
    late->ended.resume(false);
  };
  run->keep_waiting();
  run->timer = services_.loop.timers().call_at(services_.loop.clock().now() + patience, force);
}

Task<Result<Boxed<Report>>> Tree::end_by_force(std::shared_ptr<Run> run) {
  const StopReason why = run->above.stopped() ? run->above.reason() : StopReason::deadline;
  if (suspends(why)) co_return std::unexpected(Error::cancelled());
  const Session& session = run->session;
  CO_TRY(co_await services_.store.record({}));  // it may just have recorded its end itself
  CO_TRY(const auto events, services_.store.events_of_session(session.id));
  // It may have a report in hand, or have met a limit before.
  const Next next = decide(conversation_of(events), {.max_turns = session.max_turns}, why);
  const auto* finish = std::get_if<Finish>(&next);
  co_return co_await record_end(
      session, finish ? *finish : Finish{Status::partial, Reason::timeout, "its time was up"},
      Ending::by_force);
}

}  // namespace deputy
