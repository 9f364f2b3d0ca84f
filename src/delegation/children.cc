#include "delegation/children.h"

#include <new>
#include <ranges>
#include <utility>

#include "delegation/report_text.h"
#include "transcript/mail.h"

namespace deputy {

void Children::Child::changed() {
  for (const auto& waiter : std::exchange(watching, {})) waiter.resume(true);
}

std::shared_ptr<Children::Child> Children::find(const SessionId& child) const {
  const auto found = live_.find(child);
  return found == live_.end() ? nullptr : found->second;
}

bool Children::is_beside(const SessionId& child) const {
  const auto found = find(child);
  return found && found->where == Where::beside;
}

std::optional<int> Children::run_of(const SessionId& child) const {
  const auto found = find(child);
  if (!found) return std::nullopt;
  return found->run.number;
}

std::optional<WallTime> Children::deadline_of(const SessionId& child) const {
  const auto found = find(child);
  return found ? found->deadline : std::nullopt;
}

void Children::move_deadline(const SessionId& child, WallTime deadline) const {
  if (const auto found = find(child)) found->deadline = deadline;
}

std::optional<Question> Children::question_of(const SessionId& child) const {
  const auto found = find(child);
  return found ? found->question : std::nullopt;
}

std::vector<std::shared_ptr<Children::Child>> Children::children_of(const SessionId& parent) const {
  const auto found = by_parent_.find(parent);
  if (found == by_parent_.end()) return {};
  const auto children = std::views::values(found->second);
  return {children.begin(), children.end()};
}

void Children::forget(const SessionId& id) {
  const auto child = live_.extract(id);
  if (!child) return;
  const auto siblings = by_parent_.find(child.mapped()->parent);
  if (siblings == by_parent_.end()) return;
  siblings->second.erase(child.mapped()->order);
  if (siblings->second.empty()) by_parent_.erase(siblings);
}

std::vector<SessionId> Children::live_of(const SessionId& parent) const {
  std::vector<SessionId> ids;
  for (const auto& child : children_of(parent)) ids.push_back(child->run.session);
  return ids;
}

std::optional<SessionId> Children::next_to_write_to(const SessionId& parent) const {
  for (const auto& child : children_of(parent)) {
    // One that asks waits for an answer, unless it is being stopped: then its report comes.
    const bool asks = child->question && !child->stop.token().stopped();
    if (child->where == Where::beside && !asks) return child->run.session;
  }
  return std::nullopt;
}

void Children::start(const Session& session, Where where, const StopToken& above, Run run) {
  auto child = std::make_shared<Child>(Child{.run = {session.id, session.run},
                                             .parent = session.parent.value_or(SessionId{}),
                                             .deadline = session.deadline,
                                             .stop = StopSource(above),
                                             .order = ++started_});
  forget(session.id);
  live_.emplace(session.id, child);
  try {
    by_parent_[child->parent].emplace(child->order, child);
    if (where == Where::beside) go_beside(*child);
    group_.spawn(drive(std::move(child), std::move(run)));
  } catch (const std::bad_alloc&) {  // what never started never ends, and must not be waited for
    forget(session.id);
    throw;
  }
}

Task<> Children::drive(std::shared_ptr<Child> child, Run run) {
  try {
    Task<Ended> running = run(child->stop.token());
    run = nullptr;  // what it was made from is not kept while it runs
    child->ended = co_await std::move(running);
  } catch (const std::exception& bug) {
    child->ended = fail(ErrorCode::internal, std::string("a bug in deputy: ") + bug.what());
  }
  try {
    if (child->where == Where::beside) co_await mail_report(child);
  } catch (const std::exception&) {
    mail_in_short(*child);
  }
  child->changed();
}

void Children::go_beside(Child& child) {
  child.where = Where::beside;
  if (!child.parent.empty()) left_[child.parent].insert(child.run.session);
}

Mailbox* Children::box_above(const Child& child) const { return mailbox_of(child.parent); }

// A parent that does not run finds it in the journal when it goes on.
Task<> Children::mail_report(std::shared_ptr<Child> child) {
  std::string text;
  if (*child->ended) text = co_await tell_(child->parent, **child->ended);
  if (child->where != Where::beside) co_return;  // a call has come to fetch it
  forget(child->run.session);
  Mailbox* box = box_above(*child);
  if (!box) co_return;
  if (*child->ended) box->put(report_mail(**child->ended, child->run.number, text));
  box->changed();
}

void Children::mail_in_short(const Child& child) {
  if (child.where != Where::beside) return;
  forget(child.run.session);
  Mailbox* box = box_above(child);
  if (!box) return;
  try {
    if (*child.ended) box->put(report_mail(**child.ended, child.run.number, told_in_short(**child.ended)));
  } catch (const std::exception&) {
    // Its parent is still owed it, and finds it in the journal when it goes on; it does not wait for it.
  }
  box->changed();
}

void Children::mail_question(const Child& child) {
  if (Mailbox* box = box_above(child)) box->put(question_mail(*child.question));
}

Task<Children::Met> Children::meet(SessionId id) {
  const auto child = find(id);
  if (!child) co_return Met(Ended(fail(ErrorCode::not_found, id.value + " does not run")));
  child->where = Where::awaited;
  for (;;) {
    if (child->ended) {
      forget(id);
      co_return Met(*child->ended);  // another call may wait for it too
    }
    if (child->question || child->sent_away) {
      go_beside(*child);
      child->sent_away = false;
      if (child->question) co_return Met(*child->question);
      co_return Met(SentAway{});
    }
    const Waiter<bool> change;
    child->watching.push_back(change);
    co_await change.wait();
  }
}

bool Children::send_to_background(const SessionId& id) {
  const auto child = find(id);
  if (!child || child->where == Where::beside || child->ended) return false;
  child->sent_away = true;
  child->changed();
  return true;
}

bool Children::is_watchable(const SessionId& id) const {
  const auto child = find(id);
  return child && child->is_at_work();
}

Task<> Children::watch(SessionId id, StopToken stop) {
  const auto child = find(id);
  while (child && child->is_at_work() && !stop.stopped()) {
    const Waiter<bool> change;
    child->watching.push_back(change);
    const auto on_stop = stop.on_stop([change] { change.resume(false); });
    co_await change.wait();
  }
}

Task<Answer> Children::ask(Question question, StopToken stop) {
  const auto child = find(question.asker);
  if (!child) co_return Answer{};
  const std::string id = question.id;
  child->asked.insert(id);
  if (auto early = child->early.extract(id)) co_return std::move(early.mapped());
  StopSource timed(stop);
  if (question.until)
    timed.set_deadline(loop_.timers(), loop_.clock().now() + (*question.until - loop_.clock().wall()));
  const Waiter<Answer> waiter;
  child->question = std::move(question);
  child->answer = waiter;
  if (child->where == Where::beside) mail_question(*child);
  child->changed();
  const auto on_stop = timed.token().on_stop([waiter] { waiter.resume(Answer{}); });
  Answer answer = co_await waiter.wait();
  child->question.reset();
  if (Mailbox* box = box_above(*child)) box->withdraw(question_item(id));
  child->changed();
  co_return answer;
}

bool Children::answer(const SessionId& id, const std::string& question_id, Answer answer) {
  const auto child = find(id);
  if (!child) return false;
  if (child->question && child->question->id == question_id) {
    if (child->answer.resumed()) return false;
    child->question.reset();  // at once: whoever meets it now waits for what comes next
    child->answer.resume(std::move(answer));
    return true;
  }
  if (child->asked.contains(question_id)) return false;
  return child->early.emplace(question_id, std::move(answer)).second;
}

void Children::stop(const SessionId& id, StopReason reason) const {
  if (const auto child = find(id)) child->stop.request(reason);
}

void Children::stop_below(const SessionId& parent, StopReason reason) const {
  auto children = children_of(parent);
  for (const auto& child : std::views::reverse(children)) {
    stop_below(child->run.session, reason);
    child->stop.request(reason);
  }
}

Task<> Children::end_all_of(SessionId parent) {
  auto children = children_of(parent);
  for (const auto& child : std::views::reverse(children)) {
    stop_below(child->run.session, StopReason::parent_stopped);
    child->stop.request(child->question ? StopReason::unanswered : StopReason::parent_stopped);
  }
  for (const auto& child : std::views::reverse(children)) {
    while (!child->ended) {
      const Waiter<bool> change;
      child->watching.push_back(change);
      co_await change.wait();
    }
    forget(child->run.session);
  }
}

Children::Post::Post(Children& children, SessionId owner, const Conversation& so_far)
    : children_(children),
      owner_(std::move(owner)),
      box_(so_far, [this] { return children_.next_to_write_to(owner_).has_value(); }) {
  children_.boxes_.insert_or_assign(owner_, &box_);
  for (const auto& [run, is_owed] : so_far.beside) children_.left_[owner_].insert(run.session);
}

Children::Post::~Post() {
  children_.boxes_.erase(owner_);
  children_.left_.erase(owner_);
}

Mailbox* Children::mailbox_of(const SessionId& owner) const {
  const auto found = boxes_.find(owner);
  return found == boxes_.end() ? nullptr : found->second;
}

const std::set<SessionId>& Children::left_by(const SessionId& parent) const {
  static const std::set<SessionId> none;
  const auto found = left_.find(parent);
  return found == left_.end() ? none : found->second;
}

}  // namespace deputy
