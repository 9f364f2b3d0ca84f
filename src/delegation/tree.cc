#include "delegation/tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ranges>
#include <utility>

#include "delegation/budgeted_provider.h"
#include "delegation/delegate_tool.h"
#include "delegation/lost_work.h"
#include "delegation/session_event.h"
#include "delegation/spawn_tool.h"
#include "delegation/still_times.h"
#include "tools/catalog.h"

namespace deputy {

namespace {

bool is_in_line(const Session& session) { return session.wait && session.wait->owner == kPlace; }

}  // namespace

Tree::Tree(TreeServices services, TreeLimits limits)
    : services_(std::move(services)),
      limits_(limits),
      budget_(std::make_unique<Budget>(limits)),
      deadlines_(services_.loop, [this](const SessionId& id) { cancel(id, StopReason::stalled); }),
      background_(services_.loop),
      tools_(builtin_tools()),
      workspaces_({services_.loop, services_.pool, services_.disk, services_.processes}),
      reports_({services_.loop, services_.pool, services_.store, services_.state, services_.reports}),
      slots_(std::make_unique<Slots>(limits)),
      beside_(*this),
      running_(services_.loop,
               [this](SessionId reader, Report report) {
                 return reports_.told(std::move(reader), std::move(report));
               }),
      runs_(services_.loop) {
  const ToolServices connected{background_,
                               services_.network,
                               services_.tools,
                               &beside_,
                               {services_.reports.report_bytes, services_.reports.batch_bytes}};
  for (auto& tool : command_tools(connected)) tools_.push_back(std::move(tool));
  for (auto& tool : web_tools(connected, Decision::ask)) tools_.push_back(std::move(tool));
  approved_web_ = web_tools(connected, Decision::allow);
  if (services_.tools.played) {
    for (auto& tool : tools_) tool = services_.tools.played(std::move(tool));
    for (auto& tool : approved_web_) tool = services_.tools.played(std::move(tool));
  }
  tools_.push_back(std::make_shared<DelegateTool>(*this));
  tools_.push_back(std::make_shared<AnswerTool>(*this));
  std::ranges::copy(services_.tools.further,
                    std::back_inserter(tools_));  // last: the first of a name is granted
}

Tree::~Tree() {
  if (to_record_) services_.loop.timers().cancel(*to_record_);
}

Task<Result<Boxed<Report>>> Tree::start(RootBrief root, StopToken stop) {
  CO_TRY(auto session, root_session(root));
  CO_TRY(claim(session.id));
  root_stop_.emplace(stop);
  co_return co_await to_its_end(
      session, [this, session, ticket = slots_->take_ticket(SessionId{})](StopToken own) mutable {
        return begin(session, RunStarted{}, Source::person, {}, std::move(ticket), std::move(own));
      });
}

Task<Result<Boxed<Report>>> Tree::resume(SessionId root, std::optional<TreeLimits> terms, StopToken stop) {
  CO_TRY(check_model(root));
  CO_TRY(auto session, claimed_root(root, terms));
  root_stop_.emplace(stop);
  CO_TRY(co_await services_.store.record({}));  // what take_up() let ride along, before anything goes on
  if (!is_terminal(session.state))
    services_.store.ride_along({event_of(session, TakenUp{other_limits(session)})});
  co_return co_await to_its_end(
      session, [this, session, ticket = slots_->take_ticket(SessionId{})](StopToken own) mutable {
        return go_on(session, RunStarted{}, std::move(ticket), std::move(own));
      });
}

// Before it is claimed: a tree that cannot go on here stays as it is, for where its model is.
Result<void> Tree::check_model(const SessionId& root) const {
  TRY(const auto session, services_.store.session(root));
  if (!session || is_terminal(session->state)) return {};
  TRY(const auto events, services_.store.events_of_session(root));
  const ModelName model = as_started(*session, events).model;
  if (services_.models.find(model)) return {};
  return fail(ErrorCode::not_found,
              fmt::format("{} goes on with {}, which is not set up here", root.value, model.value),
              fmt::format("run `deputy resume {}`: it sets up what the tree needs", root.value));
}

// Before it is claimed: what has nothing to do is no run.
Result<void> Tree::check_history(const SessionId& root, RunTask task) const {
  if (task == RunTask::reply) return {};
  TRY(const auto events, services_.store.events_of_session(root));
  const Conversation so_far = conversation_of(events);
  if (task == RunTask::compact && !compactable(so_far))
    return fail(ErrorCode::invalid, "there is nothing to compact: nothing was said since",
                "go on, and compact it when it has grown");
  if (task == RunTask::undo_compaction && so_far.compactions.empty())
    return fail(ErrorCode::invalid, "there is no compaction to undo", "/compact makes one");
  return {};
}

Session Tree::as_started(Session session, const std::vector<Event>& events) {
  for (const auto& event : std::views::reverse(events)) {
    const auto* started = std::get_if<RunStarted>(&event.fact);
    if (!started) continue;
    if (!started->model.empty()) session.model = started->model;
    if (started->max_turns) session.max_turns = started->max_turns;
    break;
  }
  return session;
}

Task<Result<Boxed<Report>>> Tree::say(SessionId root, NextInput input, StopToken stop) {
  if (!input.model.empty()) CO_TRY(services_.models.find(input.model));
  CO_TRY(check_history(root, input.task));
  CO_TRY(auto session, claimed_root(root, input.terms));
  if (!is_terminal(session.state))
    co_return fail(ErrorCode::invalid, root.value + " has not ended", "resume it, or nudge it while it runs");
  discard_letters(session.id);
  CO_TRY(const auto events, services_.store.events_of_session(session.id));
  session.model = input.model.empty() ? as_started(session, events).model : std::move(input.model);
  session.run += 1;
  skip_downtime(session);                           // what is left of the whole tree's time
  const RunStarted started{.model = session.model,  // the person may have chosen another
                           .task = input.task,
                           .limits = other_limits(session)};
  root_stop_.emplace(stop);
  co_return co_await to_its_end(session, [this, session, started, text = input.text,
                                          ticket = slots_->take_ticket(SessionId{})](StopToken own) mutable {
    return begin_run(session, started, text, {}, std::move(ticket), std::move(own));
  });
}

// Nothing of it runs any more when it returns, but for what leave() waits for.
Task<Result<Boxed<Report>>> Tree::to_its_end(Session root, Beginning begin) {
  auto report = co_await to_a_report({root.id, root.run}, std::move(begin), root_stop_->token());
  co_await running_.join();
  is_over_ = true;
  if (lost_.empty()) co_await leave();
  co_return report;
}

Result<Session> Tree::claimed_root(const SessionId& id, const std::optional<TreeLimits>& terms) {
  TRY(auto session, services_.store.session(id));
  if (!session)
    return fail(ErrorCode::not_found, "there is no session " + id.value, "see `deputy sessions ls`");
  if (session->parent) {
    return fail(ErrorCode::invalid, id.value + " is a child: a tree is resumed from its root",
                "run `deputy resume " + session->tree.value + "`");
  }
  TRY(const auto events, claim(id));
  if (events.empty())
    return fail(ErrorCode::not_found, fmt::format("{} was pruned just now", id.value),
                "see `deputy sessions ls`");
  TRY(take_up(*session, events, terms));
  return *std::move(session);
}

// What it goes on under, where that is not what it was started with.
std::optional<TreeLimits> Tree::other_limits(const Session& root) const {
  return root.limits == limits_ ? std::nullopt : std::optional(limits_);
}

// Under the terms that it was started with, unless the person sets others, and with what it has used.
Result<void> Tree::take_up(Session& root, const std::vector<Event>& events,
                           const std::optional<TreeLimits>& terms) {
  if (root.limits) limits_ = *root.limits;
  const Duration time_before = limits_.time;
  if (terms) limits_ = *terms;
  slots_ = std::make_unique<Slots>(limits_);
  TRY(const auto all, services_.store.sessions({.tree = root.id, .most = kAllSessions}));
  std::vector<Event> left_open;
  for (const auto& each : all) {
    if (each.parent) children_[*each.parent].push_back(each.id);
    if (each.delegation) delegated_.insert(*each.delegation);
    left_at_ = std::max(left_at_.value_or(each.last_event_at), each.last_event_at);
    if (is_terminal(each.state)) continue;
    left_.insert(each.id);
    if (root.limits && limits_spending(*root.limits)) continue;  // then each was recorded before it was made
    TRY(const auto open, unrecorded_request(each));
    if (open) left_open.push_back(*open);
  }
  budget_ = std::make_unique<Budget>(limits_, used_by(events, left_open));
  if (!left_open.empty()) services_.store.ride_along(std::move(left_open));
  const auto recorded = moved_deadline(root.deadline, time_before, time_before, *left_at_);
  root.deadline = moved_deadline(root.deadline, time_before, limits_.time, *left_at_);
  still_since_ = still_since(events);
  other_terms_.reset();
  if (limits_.time == time_before) return {};
  still_since_[root.id] = *left_at_;  // who gave it another time has counted up to then
  if (recorded) other_terms_ = OtherTerms{*recorded, root.deadline};
  return {};
}

// The first request of a run may have been made without a trace where spending was not limited. It counts in
// full, under whatever limits come.
Result<std::optional<Event>> Tree::unrecorded_request(const Session& session) {
  TRY(const auto events, services_.store.events_of_session(session.id));
  const Conversation so_far = conversation_of(events);
  if (so_far.asked || !has_begun(events)) return std::nullopt;
  BudgetReserved most;
  if (const auto profile = services_.profiles.find(session.agent)) {
    if (!(*profile)->driver.empty()) return std::nullopt;  // a command costs nothing
    if (const auto kit = kit_for(as_started(session, events), **profile))
      most = most_for_request(*kit->provider, *kit->prefix, told(so_far), so_far.measured);
  }
  return event_of(session, most, so_far.step);
}

Result<std::vector<Event>> Tree::claim(SessionId id) {
  TRY(auto events, services_.store.claim(id));
  id_ = std::move(id);
  return events;
}

bool Tree::has_child(const DelegationKey& key) const { return delegated_.contains(key); }

// One decision: there is nothing between looking at what is in use and taking it.
Result<Budget::Hold> Tree::admit(const Session& parent, const Profile& profile, const Session& child,
                                 std::string_view further) {
  const auto refused = [](std::string why) { return fail(ErrorCode::exhausted, std::move(why)); };
  if (auto refusal = refusal_of_child(parent, profile, limits_)) return std::unexpected(*std::move(refusal));
  Amount need;
  if (limits_spending(limits_)) {
    TRY(const auto* provider, services_.models.find(child.model));
    TRY(const auto before, services_.store.events_of_session(child.id));
    auto first = first_request(*provider, child.model, first_input(child, before, further),
                               child.max_output_tokens, limits_);
    if (!first) return refused(std::move(first).error());
    need = *first;
  }
  need.delegations = 1;
  auto hold = budget_->reserve(need);
  if (!hold) return refused(std::move(hold).error());
  return *std::move(hold);
}

Task<Result<std::shared_ptr<Tree::Run>>> Tree::begin(Session session, RunStarted started, Source source,
                                                     Budget::Hold admitted, Slots::Ticket ticket,
                                                     StopToken stop) {
  if (!ticket.has_place()) {  // it stands in the registry while it waits
    services_.store.ride_along(created(session));
    std::string prompt = session.prompt;
    co_return co_await begin_run(std::move(session), started, std::move(prompt), std::move(admitted),
                                 std::move(ticket), std::move(stop));
  }
  auto place = co_await ticket.wait(stop);
  std::vector<Event> events(3);
  for (auto& event : events) {
    event.tree = session.tree;
    event.run = {session.id, session.run};
  }
  events[0].fact = SessionCreated{session};
  events[1].fact = started;
  events[2].fact = InputGiven{source, session.prompt};
  for (auto& event : events) event.fact = services_.store.as_kept(std::move(event.fact));
  auto so_far = std::make_unique<Conversation>(conversation_of(events));
  so_far->started_at = services_.loop.clock().wall();
  CO_TRY(co_await services_.store.record(std::move(events)));
  admitted.spend({.delegations = session.parent ? 1 : 0});
  co_return new_run(std::move(session), std::move(so_far), std::move(place), std::move(admitted),
                    std::move(stop));
}

Task<Result<std::shared_ptr<Tree::Run>>> Tree::go_on(Session session, RunStarted in_batch,
                                                     Slots::Ticket ticket, StopToken stop) {
  CO_TRY(auto events, services_.store.events_of_session(session.id));
  bool has_started = false;
  {
    const Conversation so_far = conversation_of(events);
    if (so_far.ended) co_return nullptr;
    has_started = so_far.started_at.has_value();
  }
  const bool had_its_place = had_place(events);
  events = std::vector<Event>();  // they are not kept while it runs
  co_await heed_letters(session);
  auto counted = session.parent && !had_its_place ? budget_->hold_again({.delegations = 1}) : Budget::Hold{};
  if (!has_started) {  // it was recorded, but there was no place for it
    std::string prompt = session.prompt;
    co_return co_await begin_run(std::move(session), in_batch, std::move(prompt), std::move(counted),
                                 std::move(ticket), std::move(stop));
  }
  WallTime since = when_left(session.id);
  if (is_in_line(session) && !had_its_place) since = std::min(since, session.wait->since);
  co_return co_await run_on(std::move(session), since, std::move(counted), std::move(ticket),
                            std::move(stop));
}

Task<Result<std::shared_ptr<Tree::Run>>> Tree::run_once_told(Session session, WallTime still_since,
                                                             Budget::Hold admitted, Slots::Ticket ticket,
                                                             StopToken stop) {
  CO_TRY(co_await services_.store.record({}));
  co_return co_await run_on(std::move(session), still_since, std::move(admitted), std::move(ticket),
                            std::move(stop));
}

Task<Result<std::shared_ptr<Tree::Run>>> Tree::run_on(Session session, WallTime still_since,
                                                      Budget::Hold admitted, Slots::Ticket ticket,
                                                      StopToken stop) {
  CO_TRY(auto events, services_.store.events_of_session(session.id));
  session = as_started(std::move(session), events);
  auto so_far = std::make_unique<Conversation>(conversation_of(events));
  CO_TRY(co_await tell_of_lost_commands(&services_, session, std::move(events), *so_far));
  const bool waits = !ticket.has_place();
  if (waits && !is_in_line(session)) CO_TRY(co_await stand_in_line(session));
  auto place = co_await place_to_begin(std::move(ticket), stop);
  if (!place && !stop.stopped()) co_return co_await end_in_line(std::move(session), no_place());
  if (place) {
    if (waits || session.wait) services_.store.ride_along({event_of(session, now_running())});
    // Told also where the clock was set back: that its time goes on.
    if (session.deadline) *session.deadline += std::max(WallTime::duration{}, now() - still_since);
    if (now() != still_since) tell_moved({session.id, session.run}, session.deadline);
    // What a further request of a run may come to is recorded before it, and this with it. Otherwise nothing
    // follows before its model is asked, which may think for long; nor where a command decides, which is
    // free.
    const auto profile = services_.profiles.find(session.agent);
    const bool is_free = !profile || !(*profile)->driver.empty();
    const bool is_recorded_next = !is_free && so_far->asked && so_far->pending.empty();
    if (!is_recorded_next) CO_TRY(co_await services_.store.record({}));
    admitted.spend({.delegations = admitted.amount().delegations});
  }
  co_return new_run(std::move(session), std::move(so_far), std::move(place), std::move(admitted),
                    std::move(stop));
}

}  // namespace deputy
