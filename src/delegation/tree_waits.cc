// Whom the sessions of a tree wait for, on record, and the places that they give back meanwhile.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <new>
#include <optional>
#include <utility>

#include "delegation/session_event.h"
#include "delegation/tree.h"

namespace deputy {
namespace {

constexpr Duration kLongestUntold = std::chrono::milliseconds(100);

StateChanged wait_of(const Question& question, const Session& asker) {
  const bool asks_parent = question.kind == QuestionKind::to_parent && asker.parent;
  return {.state = SessionState::waiting,
          .why = "for an answer",
          .waits_for = asks_parent ? asker.parent->value : std::string(kPerson),
          .until = question.until};
}

}  // namespace

// The loop's view of a session's mail: while it waits for some, it holds no place.
class Tree::SessionMail final : public Mail {
 public:
  SessionMail(Tree& tree, const Session& session, Mailbox& box) : tree_(tree), session_(session), box_(box) {}
  MailState state() const override { return box_.state(); }
  std::vector<Delivered> take() override { return box_.take(); }
  Task<> wait(StopToken stop) override {
    const auto first = tree_.running_.next_to_write_to(session_.id);
    if (!first) co_return;
    tree_.rest(session_, tree_.wait_for(*first));
    for (auto told = first;;) {
      (void)co_await tree_.services_.store.record({});  // one that fails is told by the next
      // Meanwhile that one may have come to a question, of before a restart, and wait for this session.
      const auto writer = tree_.running_.next_to_write_to(session_.id);
      if (!writer || writer == told) break;
      tree_.tell_wait_anew(session_, first->value, *writer);
      told = writer;
    }
    if (box_.state() == MailState::expected) co_await box_.wait(stop);
    co_await tree_.work_again(session_, first->value, stop);
  }

 private:
  Tree& tree_;
  const Session& session_;
  Mailbox& box_;
};

std::unique_ptr<Mail> Tree::mail_of(const Session& session, Mailbox& box) {
  return std::make_unique<SessionMail>(*this, session, box);
}

Task<> Tree::watch(SessionId parent, SessionId child, std::optional<TimePoint> until, StopToken stop) {
  const auto session = services_.store.session(parent);
  if (!running_.is_watchable(child) || !session || !*session) co_return;
  OpenWait wait = wait_for(child);
  if (until) {
    const WallTime over =
        now() + std::chrono::duration_cast<WallTime::duration>(*until - services_.loop.clock().now());
    wait.told.until = std::min(wait.told.until.value_or(over), over);
  }
  rest(**session, std::move(wait));
  StopSource timed(stop);
  timed.set_deadline(services_.loop.timers(), until);
  co_await running_.watch(child, timed.token());
  co_await work_again(**session, child.value, std::move(stop));
}

Tree::OpenWait Tree::wait_for(const SessionId& child) const {
  return {child.value,
          {.state = SessionState::waiting,
           .why = "for its children",
           .waits_for = child.value,
           .until = deadlines_.end_of(child, running_.deadline_of(child))}};
}

void Tree::rest(const Session& session, OpenWait wait) {
  if (lost_.contains(session.id)) return;
  deadlines_.rest(session.id);
  Live& live = live_[session.id];
  live.place.reset();
  live.waits.push_back(std::move(wait));
  if (live.waits.size() == 1) tell_first_wait(session);
}

void Tree::tell_wait_anew(const Session& session, std::string_view what, const SessionId& child) {
  const auto live = live_.find(session.id);
  if (live == live_.end()) return;
  auto& waits = live->second.waits;
  const auto wait = std::ranges::find(waits, what, &OpenWait::what);
  if (wait == waits.end()) return;
  wait->told = wait_for(child).told;
  if (wait == waits.begin()) tell_first_wait(session);
}

Task<> Tree::rest_with_question(Session session, Question question) {
  if (lost_.contains(session.id)) co_return;
  deadlines_.rest(session.id);
  Live& live = live_[session.id];
  live.place.reset();
  const StateChanged told = wait_of(question, session);
  live.waits.insert(live.waits.begin(), {question.id, told});
  const auto known = services_.store.session(session.id);
  const bool is_alone = live.waits.size() == 1;  // else another wait may be on its way to the record
  const bool is_known = is_alone && known && *known && (*known)->wait &&
                        (*known)->wait->question == question.id &&
                        !(live.told_at && *live.told_at >= (*known)->wait->since);
  // One that fails is told by the next.
  if (!is_known) (void)co_await services_.store.record({event_of(session, told)});
}

void Tree::tell_state(const Session& session, const StateChanged& state) {
  live_[session.id].told_at = now();
  services_.store.ride_along({event_of(session, state)});
  record_soon();
}

void Tree::record_soon() try {
  if (to_record_ || is_over_) return;
  const TimePoint soon = services_.loop.clock().now() + kLongestUntold;
  to_record_ = services_.loop.timers().call_at(soon, [this] { record_what_rides(); });
} catch (const std::bad_alloc&) {  // it is told by the next record
}

void Tree::record_what_rides() try {
  to_record_.reset();
  const auto record = [](Store& store) -> Task<> {
    try {
      (void)co_await store.record({});
    } catch (const std::bad_alloc&) {
    }
  };
  if (!is_over_) running_.spawn(record(services_.store));
} catch (const std::bad_alloc&) {
}

void Tree::tell_first_wait(const Session& session) {
  const auto live = live_.find(session.id);
  if (live != live_.end() && !live->second.waits.empty())
    tell_state(session, live->second.waits.front().told);
}

void Tree::tell_settled(const Session& session) {
  if (lost_.contains(session.id)) return;
  const Live& live = live_[session.id];
  if (!live.waits.empty()) return tell_first_wait(session);
  tell_state(session, live.is_in_line ? in_line(session) : now_running());
}

Task<> Tree::work_again(Session session, std::string what, StopToken stop) {
  if (lost_.contains(session.id)) co_return;
  auto& waits = live_[session.id].waits;
  const auto over = std::ranges::find(waits, what, &OpenWait::what);
  const bool was_told = over == waits.begin();
  if (over != waits.end()) waits.erase(over);
  if (!waits.empty()) {
    if (was_told) tell_first_wait(session);
    co_return;
  }
  deadlines_.work(session.id);
  const SessionId parent = session.parent.value_or(SessionId{});
  if (std::exchange(live_[session.id].is_in_line, true)) {  // for another of its calls
    (void)co_await stand_in_line(session);                  // one that fails is told by the next
    co_return;
  }
  std::optional<Slots::Place> place;
  try {
    const Slots::Ticket ticket = slots_->take_ticket(parent);
    if (!ticket.has_place() && !stop.stopped()) (void)co_await stand_in_line(session);
    place = co_await ticket.wait(stop);
  } catch (...) {  // its other calls would rely on this one for ever
    if (const auto live = live_.find(session.id); live != live_.end()) live->second.is_in_line = false;
    throw;
  }
  if (lost_.contains(session.id)) co_return;
  Live& back = live_[session.id];
  back.is_in_line = false;
  if (!back.waits.empty()) co_return;
  back.place = std::move(place);
  tell_state(session, now_running());
}

void Tree::pass_wait_on(const Session& ending) {
  const auto live = ending.parent ? live_.find(*ending.parent) : live_.end();
  if (live == live_.end()) return;
  auto& waits = live->second.waits;
  if (waits.size() < 2 || waits.front().what != ending.id.value) return;
  const auto parent = services_.store.session(*ending.parent);
  if (!parent || !*parent) return;
  std::ranges::rotate(waits, std::next(waits.begin()));
  tell_first_wait(**parent);
}

StateChanged Tree::in_line(const Session& session) const {
  return {SessionState::waiting, "for a place to run", std::string(kPlace), deadlines_.end_of(session.id)};
}

Task<Result<void>> Tree::stand_in_line(Session session) {
  if (const auto live = live_.find(session.id); live != live_.end()) live->second.told_at = now();
  co_return co_await services_.store.record({event_of(session, in_line(session))});
}

Task<std::optional<Slots::Place>> Tree::place_to_begin(Slots::Ticket ticket, StopToken stop) {
  if (ticket.has_place()) co_return co_await ticket.wait(stop);
  StopSource patience(stop);
  patience.set_deadline(services_.loop.timers(), services_.loop.clock().now() + kLongestSilence);
  co_return co_await ticket.wait(patience.token());
}

Finish Tree::no_place() {
  return {Status::partial, Reason::stalled,
          fmt::format("no place to run came free for it in {}; --max-live lets more sessions run at once",
                      to_text(kLongestSilence))};
}

Task<Result<std::shared_ptr<Tree::Run>>> Tree::end_in_line(Session session, Finish finish) {
  const SessionId id = session.id;
  CO_TRY(auto report, co_await record_end(std::move(session), std::move(finish)));
  co_await log_errors(id, std::move(report));
  co_return nullptr;
}

}  // namespace deputy
