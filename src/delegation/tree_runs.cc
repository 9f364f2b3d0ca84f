// One run of a session in a tree, from its place to its end, by force where it takes no other.
#include <exception>
#include <new>
#include <utility>

#include "async/apart.h"
#include "delegation/tree_run.h"

namespace deputy {

namespace {

constexpr Duration kAnotherMoment = std::chrono::seconds(1);

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

Task<Result<Report>> Tree::to_a_report(RunId id, Beginning begin, StopToken stop) {
  Error error = Error::cancelled();
  bool is_left = id.session == id_;  // a root that meets an error is gone on with later
  try {
    Task<Result<std::shared_ptr<Run>>> beginning = begin(stop);
    begin = nullptr;  // what it was made from is not kept while it runs
    if (auto run = co_await std::move(beginning); run) {
      auto report = *run ? co_await oversee(*std::move(run)) : report_of_ended(id.session);
      if (report) co_return report;
      error = std::move(report).error();
    } else {
      error = std::move(run).error();
    }
  } catch (const std::bad_alloc&) {
    is_left = false;
    error =
        fail(ErrorCode::internal, "out of memory; let fewer sessions run at once with --max-live").error();
  } catch (const std::exception& bug) {
    is_left = false;
    error = fail(ErrorCode::internal, std::string("a bug in deputy: ") + bug.what()).error();
  }
  if (is_left || suspends(stop.reason())) co_return std::unexpected(std::move(error));
  co_return co_await end_broken(std::move(id), std::move(error));
}

Task<Result<Report>> Tree::end_broken(RunId id, Error error) {
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

Task<Result<Report>> Tree::oversee(std::shared_ptr<Run> run) {
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
    Result<Report> report = co_await run_session(run);
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

Task<Result<Report>> Tree::end_by_force(std::shared_ptr<Run> run) {
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
