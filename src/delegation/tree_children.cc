// The tree's children: started, met, resumed, asked and stopped.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "async/apart.h"
#include "delegation/lost_work.h"
#include "delegation/session_event.h"
#include "delegation/tree.h"
#include "transcript/mail.h"

namespace deputy {
namespace {

// Nothing where it has not ended.
std::optional<Report> report_of(const RunId& run, const std::vector<Event>& events) {
  for (const Event& event : events) {
    const auto* ended = std::get_if<RunEnded>(&event.fact);
    if (ended && event.run == run) return *ended->report;
  }
  return std::nullopt;
}

bool has_nudge(const std::vector<Event>& events, const std::string& id) {
  return std::ranges::any_of(events, [&id](const Event& event) {
    const auto* nudge = std::get_if<Nudged>(&event.fact);
    return nudge && nudge->id == id;
  });
}

}  // namespace

// What a process before this one left of those that go on beside the session.
Task<Result<void>> Tree::take_up_children(std::map<RunId, bool> children, Children::Post& post,
                                          StopToken stop) {
  if (nudged_early_.erase(post.owner()) > 0) {
    CO_TRY(const auto events, services_.store.events_of_session(post.owner()));
    for (const Event& event : events) {
      if (const auto* nudge = std::get_if<Nudged>(&event.fact)) post.box().put(nudge_mail(*nudge));
    }
  }
  for (const auto& [run, is_owed] : children) {
    if (!is_owed) continue;
    CO_TRY(auto child, services_.store.session(run.session));
    CO_TRY(const auto said, services_.store.events_of_session(run.session));
    if (const auto report = report_of(run, said)) {
      post.box().put(report_mail(*report, run.number, co_await reports_.told(post.owner(), *report)));
    } else if (child) {
      take_up_child(*child, Children::Where::beside, stop);
    }
  }
  co_return Result<void>{};
}

void Tree::start_running(const Session& child, Children::Where where, const StopToken& above,
                         Beginning begin) {
  running_.start(child, where, above,
                 [this, id = RunId{child.id, child.run}, begin = std::move(begin)](StopToken own) mutable {
                   return to_a_report(std::move(id), std::move(begin), std::move(own));
                 });
}

void Tree::take_up_child(const Session& child, Children::Where where, const StopToken& stop,
                         const RunStarted& in_batch) {
  if (running_.is_live(child.id)) return;
  left_.erase(child.id);
  start_running(
      child, where, stop,
      [this, child, in_batch, ticket = slots_->take_ticket(child.parent.value_or(SessionId{}))](
          StopToken own) mutable { return go_on(child, in_batch, std::move(ticket), std::move(own)); });
}

Result<Report> Tree::report_of_ended(const SessionId& id) const {
  TRY(const auto events, services_.store.events_of_session(id));
  auto ended = conversation_of(events).ended;
  if (!ended) return fail(ErrorCode::internal, id.value + " neither runs nor has it ended");
  return *std::move(ended);
}

int Tree::run_of(const SessionId& child) const {
  if (const auto run = running_.run_of(child)) return *run;
  const auto session = services_.store.session(child);
  return session && *session ? (*session)->run : 1;
}

Task<Result<SessionId>> Tree::start_child(Delegation delegation, StopToken stop) {
  const auto where = delegation.background ? Children::Where::beside : Children::Where::awaited;
  const RunStarted started{delegation.index, delegation.total};
  std::optional<Session> existing;
  if (has_child(delegation.key)) {
    CO_TRY(existing, services_.store.child_of(delegation.key));
  }
  if (existing) {
    const SessionId id = existing->id;
    if (!is_terminal(existing->state)) take_up_child(*existing, where, stop, started);
    co_return id;
  }
  if (stop.stopped()) co_return fail(ErrorCode::cancelled, "not started: its parent was stopped");
  CO_TRY(const auto* profile, services_.profiles.find(delegation.agent));
  CO_TRY(auto session, child_session(delegation, *profile));
  CO_TRY(auto admitted, admit(delegation.parent, *profile, session, ""));
  auto ticket = slots_->take_ticket(delegation.parent.id);
  const SessionId id = session.id;
  children_[delegation.parent.id].push_back(id);
  delegated_.insert(delegation.key);
  if (!delegation.background) {
    start_running(session, where, stop,
                  [this, session, started, admitted = std::move(admitted),
                   ticket = std::move(ticket)](StopToken own) mutable {
                    return begin(std::move(session), started, Source::parent, std::move(admitted),
                                 std::move(ticket), std::move(own));
                  });
    co_return id;
  }
  // Its parent goes on with its id, whether or not there is a place for it yet.
  CO_TRY(co_await services_.store.record(created(session)));
  start_running(session, where, stop,
                [this, session, started, admitted = std::move(admitted),
                 ticket = std::move(ticket)](StopToken own) mutable {
                  std::string prompt = session.prompt;
                  return begin_run(std::move(session), started, std::move(prompt), std::move(admitted),
                                   std::move(ticket), std::move(own));
                });
  co_return id;
}

std::vector<Event> Tree::created(const Session& session) const {
  return {event_of(session, services_.store.as_kept(SessionCreated{session}))};
}

Task<Result<std::shared_ptr<Tree::Run>>> Tree::begin_run(Session session, RunStarted started,
                                                         std::string input, Budget::Hold admitted,
                                                         Slots::Ticket ticket, StopToken stop) {
  if (!ticket.has_place()) CO_TRY(co_await stand_in_line(session));
  std::optional<Slots::Place> place;
  if (!stop.stopped()) place = co_await place_to_begin(std::move(ticket), stop);
  if (!place && !stop.stopped()) co_return co_await end_in_line(std::move(session), no_place());
  if (!place) {
    const Next next = decide({}, {}, stop.reason());
    const auto* finish = std::get_if<Finish>(&next);
    if (!finish) co_return std::unexpected(Error::cancelled());
    co_return co_await end_in_line(std::move(session), *finish);
  }
  const auto deadline_before = session.deadline;
  if (session.parent) session.deadline = deadline_after(session.timeout);  // its time begins when it does
  started.deadline = on_record(session.id, session.deadline);
  CO_TRY(auto before, services_.store.events_of_session(session.id));
  auto so_far = std::make_unique<Conversation>(conversation_of(before));
  std::vector<Event> events;
  events.push_back(event_of(session, started, so_far->step));
  if (session.deadline) running_.move_deadline(session.id, *session.deadline);
  if (session.run == 1 && session.deadline && session.deadline != deadline_before)
    events.push_back(event_of(session, DeadlineMoved{*session.deadline}, so_far->step));
  if (started.task == RunTask::reply)
    events.push_back(event_of(session,
                              InputGiven{session.parent ? Source::parent : Source::person, std::move(input)},
                              so_far->step));
  for (auto& event : events) {
    event.fact = services_.store.as_kept(std::move(event.fact));
    apply(*so_far, event);
  }
  if (!so_far->started_at || so_far->started_at == WallTime{})
    so_far->started_at = services_.loop.clock().wall();
  CO_TRY(co_await services_.store.record(std::move(events)));
  if (session.run > 1) CO_TRY(co_await tell_of_lost_commands(&services_, session, before, *so_far));
  before = std::vector<Event>();  // it is not kept while it runs
  admitted.spend({.delegations = session.parent ? 1 : 0});
  co_return new_run(std::move(session), std::move(so_far), std::move(place), std::move(admitted),
                    std::move(stop));
}

namespace {

std::unexpected<Error> not_resumed(const SessionId& id, std::string_view why, std::string_view advice) {
  return fail(ErrorCode::invalid, fmt::format("{} {}", id.value, why), std::string(advice));
}
std::unexpected<Error> not_ended(const SessionId& id) {
  return not_resumed(id, "has not ended yet", "write to it with task_message, or wait with task_status");
}

}  // namespace

Result<Session> Tree::own_child(const SessionId& parent, const SessionId& id) const {
  TRY(auto session, services_.store.session(id));
  if (!session || session->parent != parent)
    return not_resumed(id, "is not a subagent of yours", "give the session id that its report names");
  return *std::move(session);
}

bool Tree::has_ended(const Session& session) const {
  return is_terminal(session.state) && !running_.is_live(session.id) && !lost_.contains(session.id);
}

std::optional<Error> Tree::refusal_of(const Resumption& resumption) {
  const auto session = own_child(resumption.parent.id, resumption.child);
  if (!session) return session.error();
  if (session->run >= resumption.run) return std::nullopt;
  if (!has_ended(*session)) return not_ended(session->id).error();
  const auto profile = services_.profiles.find(session->agent);
  if (!profile) return profile.error();
  const auto admitted =
      admit(resumption.parent, **profile, *session, resumption.prompt);  // and given back at once
  if (!admitted) return admitted.error();
  return std::nullopt;
}

Result<std::shared_ptr<const void>> Tree::prepare_to_resume(const SessionId& child) {
  if (running_.is_live(child) || lost_.contains(child) || !to_be_resumed_.insert(child).second)
    return not_ended(child);
  return std::shared_ptr<const void>(this, [this, child](const void*) { to_be_resumed_.erase(child); });
}

Task<Result<SessionId>> Tree::resume_child(Resumption resumption, StopToken stop) {
  const SessionId& id = resumption.child;
  CO_TRY(auto session, own_child(resumption.parent.id, id));
  CO_TRY(const auto* profile, services_.profiles.find(session.agent));
  if (session.run < resumption.run) {  // else an attempt before this one has begun it
    if (!has_ended(session)) co_return not_ended(id);
    if (stop.stopped()) co_return fail(ErrorCode::cancelled, "its parent was stopped");
    CO_TRY(auto admitted, admit(resumption.parent, *profile, session, resumption.prompt));
    discard_letters(id);
    session.run = resumption.run;
    if (resumption.timeout)
      session.timeout = *resumption.timeout == kNoTimeout ? std::nullopt : resumption.timeout;
    session.deadline = deadline_after(session.timeout);
    RunStarted started{.deadline = session.deadline};
    if (const auto most = resumption.max_turns)
      started.max_turns = std::min(*most, session.max_turns.value_or(*most));
    // Before anything that its parent says of it, and whether or not there is a place for it yet.
    services_.store.ride_along(
        {event_of(session, started, session.steps),
         event_of(session, services_.store.as_kept(InputGiven{Source::parent, resumption.prompt}),
                  session.steps)});
    start_running(session, resumption.where, stop,
                  [this, session, since = now(), admitted = std::move(admitted),
                   ticket = slots_->take_ticket(resumption.parent.id)](StopToken own) mutable {
                    return run_once_told(std::move(session), since, std::move(admitted), std::move(ticket),
                                         std::move(own));
                  });
  } else if (!is_terminal(session.state)) {
    take_up_child(session, resumption.where, stop);
  }
  co_return id;
}

Task<Children::Met> Tree::meet(const Session* parent, SessionId child, StopToken stop) {
  if (Mailbox* box = running_.mailbox_of(parent->id)) box->withdraw(report_item(child, run_of(child)));
  if (!running_.is_live(child)) co_return Children::Met(report_of_ended(child));
  rest(*parent, wait_for(child));
  auto met = co_await running_.meet(child);
  co_await apart([&] { return work_again(*parent, child.value, stop); });
  co_return met;
}

Task<Report> Tree::delegate(Delegation delegation, StopToken stop) {
  const auto child = co_await start_child(delegation, stop);
  if (!child) {
    Report refused = report_of_refusal(delegation, child.error());
    co_await log_errors(delegation.parent.id, refused);
    co_return refused;
  }
  auto met = co_await meet(&delegation.parent, *child, stop);
  while (!std::holds_alternative<Children::Ended>(met)) met = co_await meet(&delegation.parent, *child, stop);
  auto& report = std::get<Children::Ended>(met);
  if (report) co_return **std::move(report);
  Report refused = report_of_refusal(delegation, report.error());
  co_await log_errors(delegation.parent.id, refused);
  co_return refused;
}

Task<Answer> Tree::ask_parent(const Session* session, Question question, StopToken stop) {
  co_await apart([&] { return rest_with_question(*session, question); });
  Answer answer = co_await apart([&] { return running_.ask(question, stop); });
  co_await apart([&] { return work_again(*session, question.id, stop); });
  co_return answer;
}

Task<Result<void>> Tree::nudge(SessionId to, Nudged nudge) {
  if (!running_.mailbox_of(to) && !running_.is_live(to))
    co_return fail(ErrorCode::not_found, to.value + " does not run",
                   "see `deputy sessions tree " + id_.value + "`");
  CO_TRY(const auto session, services_.store.session(to));
  if (!session) co_return fail(ErrorCode::not_found, "there is no session " + to.value);
  co_return co_await take_in(*session, std::move(nudge));
}

Task<Result<void>> Tree::take_in(Session session, Nudged nudge) {
  const std::string id = nudge.id;
  CO_TRY(const auto events, services_.store.events_of_session(session.id));
  if (has_nudge(events, id)) co_return Result<void>{};
  if (!being_taken_in_.insert(id).second)
    co_return fail(ErrorCode::busy, "the message is being recorded already");
  const Fact kept = services_.store.as_kept(std::move(nudge));
  auto recorded = co_await services_.store.record({event_of(session, kept, session.steps)});
  being_taken_in_.erase(id);
  Mailbox* box = running_.mailbox_of(session.id);
  if (recorded && box) box->put(nudge_mail(std::get<Nudged>(kept)));
  if (recorded && !box) nudged_early_.insert(session.id);
  co_return recorded;
}

// For one that does not run there is nobody to read it.
void Tree::nudge_soon(const SessionId& to, Nudged nudge) {
  if (running_.mailbox_of(to) || running_.is_live(to)) running_.spawn(nudge_and_forget(to, std::move(nudge)));
}

Task<> Tree::nudge_and_forget(SessionId to, Nudged nudge) {
  (void)co_await this->nudge(to, std::move(nudge));
}

// A cancel stays in the inbox until the session's end is on record, an answer until the asker has recorded
// it: it is there before the question is asked again, whose time may be up. Letters that cannot be read or
// taken in now are looked for again while it runs.
Task<> Tree::heed_letters(Session session) {
  const auto letters = services_.store.letters(id_);
  if (!letters) co_return;
  for (const Letter& letter : *letters) {
    if (letter.session != session.id) continue;
    switch (letter.kind) {
      case LetterKind::cancel:
        cancel(session.id, StopReason::user);
        break;
      case LetterKind::answer:
        running_.answer(session.id, letter.question, {AnswerKind::text, letter.text, Source::person});
        break;
      case LetterKind::nudge:
        if (co_await take_in(session, nudge_of(letter))) (void)services_.store.discard(letter.id);
        break;
    }
  }
}

void Tree::discard_letters(const SessionId& session) {
  const auto letters = services_.store.letters(id_);
  if (!letters) return;
  for (const Letter& letter : *letters)
    if (letter.session == session) (void)services_.store.discard(letter.id);
}

bool Tree::cancel(const SessionId& id, StopReason reason) {
  const bool is_root = id == id_;
  if (!is_root && !running_.is_live(id)) return false;
  const bool is_its_own = reason == StopReason::parent || reason == StopReason::stalled;
  running_.stop_below(id, is_its_own ? StopReason::parent_stopped : reason);
  if (is_root) {
    if (root_stop_) root_stop_->request(reason);
  } else {
    running_.stop(id, reason);
  }
  return true;
}

}  // namespace deputy
