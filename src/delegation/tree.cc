#include "delegation/tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <new>
#include <ranges>
#include <utility>

#include "delegation/budgeted_provider.h"
#include "delegation/delegate_tool.h"
#include "delegation/lost_work.h"
#include "delegation/question_desk.h"
#include "delegation/spawn_tool.h"
#include "tools/catalog.h"

namespace deputy {

namespace {

// Of a profile that leaves nothing to be asked.
class DeniesAll final : public Asker {
 public:
  Task<Answer> ask(Question, StopToken) override {
    co_return Answer{.kind = AnswerKind::refused, .text = "this agent may do only what its rules allow"};
  }
};

std::chrono::microseconds rounded(Duration duration) {
  return std::chrono::duration_cast<std::chrono::microseconds>(duration);
}

// When the time of a tree is up under another limit: what has passed of the old one has passed of the new
// one.
std::optional<WallTime> moved_deadline(const std::optional<WallTime>& deadline, Duration before,
                                       Duration time, WallTime left_at) {
  if (time == Duration::max()) return std::nullopt;
  if (deadline && before != Duration::max()) return *deadline + rounded(time - before);
  return left_at + rounded(time);
}

void ride_along(Store& store, const SessionId& tree, const Deadlines::Moved& moved) {
  std::vector<Event> events(1);
  events[0].tree = tree;
  events[0].run = moved.run;
  events[0].fact = DeadlineMoved{moved.deadline};
  store.ride_along(std::move(events));
}

bool is_in_line(const Session& session) { return session.wait && session.wait->owner == kPlace; }

// While a person is asked, the time of the session and of all above it stands still. What the person has
// written from another process counts also where nobody is there now.
class PatientAsker final : public Asker {
 public:
  PatientAsker(Asker& person, Deadlines& deadlines, Store& store, SessionId tree, SessionId session)
      : person_(person),
        deadlines_(deadlines),
        store_(store),
        tree_(std::move(tree)),
        session_(std::move(session)) {}

  Task<Answer> ask(Question question, StopToken stop) override {
    if (const auto letters = store_.letters(tree_)) {
      const auto left = std::ranges::find(*letters, question.id, &Letter::question);
      if (left != letters->end()) co_return answer_in_words(question, left->text);
    }
    deadlines_.hold(session_);
    Answer answer = co_await person_.ask(std::move(question), std::move(stop));
    for (const auto& moved : deadlines_.go_on(session_)) ride_along(store_, tree_, moved);
    co_return answer;
  }

 private:
  Asker& person_;
  Deadlines& deadlines_;
  Store& store_;
  SessionId tree_;
  SessionId session_;
};

}  // namespace

Tree::Tree(TreeServices services, TreeLimits limits)
    : services_(std::move(services)),
      limits_(limits),
      budget_(std::make_unique<Budget>(limits)),
      deadlines_(services_.loop),
      background_(services_.loop),
      tools_(builtin_tools()),
      workspaces_({services_.loop, services_.pool, services_.disk, services_.processes}),
      reports_({services_.loop, services_.pool, services_.store, services_.state, services_.reports}),
      slots_(std::make_unique<Slots>(limits)),
      beside_(*this),
      running_(services_.loop, [this](SessionId reader, Report report) {
        return reports_.told(std::move(reader), std::move(report));
      }) {
  const ToolServices connected{background_, services_.network, services_.tools, &beside_};
  for (auto& tool : command_tools(connected)) tools_.push_back(std::move(tool));
  for (auto& tool : web_tools(connected, Decision::ask)) tools_.push_back(std::move(tool));
  approved_web_ = web_tools(connected, Decision::allow);
  tools_.push_back(std::make_shared<DelegateTool>(*this));
  tools_.push_back(std::make_shared<AnswerTool>(*this));
}

Tree::~Tree() = default;

Task<Result<Report>> Tree::start(RootBrief root, StopToken stop) {
  CO_TRY(auto session, root_session(root));
  CO_TRY(claim(session.id));
  root_stop_.emplace(stop);
  co_return co_await to_its_end(
      begin(std::move(session), RunStarted{}, Source::person, {}, root_stop_->token()));
}

Task<Result<Report>> Tree::resume(SessionId root, std::optional<TreeLimits> terms, StopToken stop) {
  CO_TRY(check_model(root));
  CO_TRY(auto session, claimed_root(root, terms));
  root_stop_.emplace(stop);
  co_return co_await to_its_end(go_on(std::move(session), RunStarted{}, root_stop_->token()));
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

Task<Result<Report>> Tree::say(SessionId root, NextInput input, StopToken stop) {
  if (!input.model.empty()) CO_TRY(services_.models.find(input.model));
  CO_TRY(auto session, claimed_root(root));
  if (!is_terminal(session.state))
    co_return fail(ErrorCode::invalid, root.value + " has not ended", "resume it, or nudge it while it runs");
  CO_TRY(const auto events, services_.store.events_of_session(session.id));
  session.model = input.model.empty() ? as_started(session, events).model : std::move(input.model);
  session.run += 1;
  skip_downtime(session);                            // what is left of the whole tree's time
  const RunStarted started{.model = session.model};  // the person may have chosen another
  root_stop_.emplace(stop);
  co_return co_await to_its_end(
      begin_run(std::move(session), started, std::move(input.text), {}, root_stop_->token()));
}

// Nothing of it runs any more when it returns.
Task<Result<Report>> Tree::to_its_end(Task<Result<Report>> root) {
  auto report = co_await std::move(root);
  co_await running_.join();
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

// Under the terms that it was started with, unless the person sets others, and with what it has used.
Result<void> Tree::take_up(Session& root, const std::vector<Event>& events,
                           const std::optional<TreeLimits>& terms) {
  if (root.limits) limits_ = *root.limits;
  const Duration time_before = limits_.time;
  if (terms) limits_ = *terms;
  slots_ = std::make_unique<Slots>(limits_);
  budget_ = std::make_unique<Budget>(limits_, used_by(events));
  TRY(const auto all, services_.store.sessions({.tree = root.id, .most = 1'000'000}));
  for (const auto& each : all) {
    if (each.parent) children_[*each.parent].push_back(each.id);
    left_at_ = std::max(left_at_.value_or(each.last_event_at), each.last_event_at);
  }
  if (limits_.time != time_before)
    root.deadline = moved_deadline(root.deadline, time_before, limits_.time, *left_at_);
  return {};
}

Result<std::vector<Event>> Tree::claim(SessionId id) {
  TRY(auto events, services_.store.claim(id));
  id_ = std::move(id);
  return events;
}

bool Tree::has_child(const DelegationKey& key) const {
  const auto found = services_.store.child_of(key);
  return found && *found;
}

// One decision: there is nothing between looking at what is in use and taking it.
Result<Budget::Hold> Tree::admit(const Session& parent, const Profile& profile, const Session& child) {
  const auto refused = [](std::string why) { return fail(ErrorCode::exhausted, std::move(why)); };
  if (auto refusal = refusal_of_child(parent, profile, limits_)) return refused(*std::move(refusal));
  Amount need;
  if (limits_spending(limits_)) {
    TRY(const auto* provider, services_.models.find(child.model));
    auto first = first_request(*provider, child.model, child.prompt, child.max_output_tokens, limits_);
    if (!first) return refused(std::move(first).error());
    need = *first;
  }
  need.delegations = 1;
  auto hold = budget_->reserve(need);
  if (!hold) return refused(std::move(hold).error());
  return *std::move(hold);
}

Task<Result<Report>> Tree::begin(Session session, RunStarted started, Source source, Budget::Hold admitted,
                                 StopToken stop) {
  const SessionId parent = session.parent.value_or(SessionId{});
  if (!slots_->has_room_for(parent)) {  // it stands in the registry while it waits
    services_.store.ride_along(created(session));
    std::string prompt = session.prompt;
    co_return co_await begin_run(std::move(session), started, std::move(prompt), std::move(admitted),
                                 std::move(stop));
  }
  auto place = co_await slots_->take(parent, stop);
  std::vector<Event> events(3);
  for (auto& event : events) {
    event.tree = session.tree;
    event.run = {session.id, session.run};
  }
  events[0].fact = SessionCreated{session};
  events[1].fact = started;
  events[2].fact = InputGiven{source, session.prompt};
  for (auto& event : events) event.fact = services_.store.as_kept(std::move(event.fact));
  Conversation so_far = conversation_of(events);
  so_far.started_at = services_.loop.clock().wall();
  CO_TRY(co_await services_.store.record(std::move(events)));
  admitted.spend({.delegations = session.parent ? 1 : 0});
  live_[session.id].first = std::move(admitted);
  co_return co_await run_in_place(std::move(session), std::move(so_far), std::move(place), std::move(stop));
}

Task<Result<Report>> Tree::go_on(Session session, RunStarted in_batch, StopToken stop) {
  CO_TRY(const auto events, services_.store.events_of_session(session.id));
  Conversation so_far = conversation_of(events);
  if (so_far.ended) co_return *so_far.ended;
  auto counted =
      session.parent && !had_place(events) ? budget_->hold_again({.delegations = 1}) : Budget::Hold{};
  if (!so_far.started_at) {  // it was recorded, but there was no place for it
    std::string prompt = session.prompt;
    co_return co_await begin_run(std::move(session), in_batch, std::move(prompt), std::move(counted),
                                 std::move(stop));
  }
  CO_TRY(co_await tell_of_lost_commands(&services_, session, events, so_far));
  const WallTime still_since = is_in_line(session) ? session.wait->since : left_at_.value_or(now());
  co_return co_await run_on(std::move(session), still_since, std::move(counted), std::move(stop));
}

Task<Result<Report>> Tree::run_on(Session session, WallTime still_since, Budget::Hold admitted,
                                  StopToken stop) {
  CO_TRY(co_await services_.store.record({}));  // what it is told may still be riding along
  CO_TRY(const auto events, services_.store.events_of_session(session.id));
  session = as_started(std::move(session), events);
  const SessionId parent = session.parent.value_or(SessionId{});
  const bool waits = !slots_->has_room_for(parent);
  if (waits && !is_in_line(session)) CO_TRY(co_await stand_in_line(session));
  auto place = co_await slots_->take(parent, stop);
  if (place && (waits || is_in_line(session))) services_.store.ride_along({now_running(session)});
  if (session.deadline && now() > still_since) {
    *session.deadline += now() - still_since;
    ride_along(services_.store, id_, {{session.id, session.run}, *session.deadline});
  }
  if (place) admitted.spend({.delegations = admitted.amount().delegations});
  live_[session.id].first = std::move(admitted);
  Conversation so_far = conversation_of(events);
  co_return co_await run_in_place(std::move(session), std::move(so_far), std::move(place), std::move(stop));
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

Task<Result<Report>> Tree::run_in_place(Session session, Conversation so_far,
                                        std::optional<Slots::Place> place, StopToken stop) {
  const SessionId id = session.id;
  live_[id].place = std::move(place);  // a stopped session gets none: it only has its end to record
  Result<Report> report = std::unexpected(Error::cancelled());
  {
    const Leaving leaving{*this, id};
    report = co_await run_session(std::move(session), std::move(so_far), std::move(stop));
  }
  if (report) co_await log_errors(id, *report);
  co_return report;
}

Task<Result<Report>> Tree::run_session(Session session, Conversation so_far, StopToken stop) {
  const auto found = services_.profiles.find(session.agent);  // a resumed one's file may be gone by now
  if (!found)
    co_return co_await record_end(session, {Status::failed, Reason::internal, to_text(found.error())});
  const Profile* profile = *found;
  auto kit = kit_for(session, *profile);
  if (!kit) co_return co_await record_end(session, {Status::failed, Reason::internal, to_text(kit.error())});
  CO_TRY(const auto above, co_await workspace_above(session));
  auto workspace = co_await workspaces_.open(session, above, stop);
  if (!workspace && suspends(stop.reason())) co_return std::unexpected(Error::cancelled());
  if (!workspace) {
    const Next next = decide(so_far, {}, stop.reason());
    const auto* stopped = stop.stopped() ? std::get_if<Finish>(&next) : nullptr;
    co_return co_await record_end(
        session, stopped ? *stopped : Finish{Status::failed, Reason::denied, to_text(workspace.error())});
  }

  StopSource own(stop);
  deadlines_.start(session, own);
  DeniesAll denies_all;
  PatientAsker person(services_.asker, deadlines_, services_.store, id_, session.id);
  BudgetedProvider budgeted(
      {.inner = *kit->provider, .budget = *budget_, .first = std::move(live_[session.id].first)});
  // A command costs nothing but what its children do.
  const bool is_free = !profile->driver.empty();
  Children::Post post(running_, session.id, so_far);
  const auto mail = mail_of(session, post.box());
  CO_TRY(co_await take_up_children(so_far.beside, post, own.token()));
  std::string broken;
  Result<Report> report = std::unexpected(Error::cancelled());
  try {
    Agent agent({.session = session,
                 .run = session.run,
                 .limits = limits_of(session, *profile),
                 .provider = is_free ? *kit->provider : budgeted,
                 .prefix = kit->prefix,
                 .toolbox = *kit->toolbox,
                 .workspace = **workspace,
                 .journal = services_.store,
                 .loop = services_.loop,
                 .pool = services_.pool,
                 .processes = services_.processes,
                 .asker = profile->on_ask == OnAsk::deny ? static_cast<Asker&>(denies_all) : person,
                 .mail = mail.get(),
                 .above = stop,
                 .roots =
                     [this, id = session.id] {
                       auto roots = services_.tools.root_folders();
                       std::ranges::copy(reports_.roots_of(id), std::back_inserter(roots));
                       return roots;
                     },
                 .home = services_.home,
                 .hidden = services_.hidden,
                 .state = services_.state.get(),
                 .children = [this, id = session.id] { return children_[id]; },
                 .output =
                     [this, session](std::string_view text) {
                       if (services_.output) services_.output(session, text);
                     },
                 .keep =
                     [this, id = session.id](std::string name, std::string text) {
                       return reports_.keep(id, std::move(name), std::move(text));
                     },
                 .deltas =
                     [this, session](const Delta& delta) {
                       if (services_.deltas) services_.deltas(session, delta);
                     },
                 .complete = [this, session](Report ended) { return complete(session, std::move(ended)); }},
                std::move(so_far));
    report = co_await agent.run(own.token());
  } catch (const std::bad_alloc&) {
    broken = "out of memory; let fewer sessions run at once with --max-live";
  } catch (const std::exception& error) {
    broken = std::string("a bug in deputy: ") + error.what();
  }
  co_await running_.end_all_of(session.id);
  deadlines_.end(session.id);
  co_await background_.end_all_of(session.id);
  if (broken.empty()) co_return report;
  co_return co_await record_end(std::move(session), {Status::failed, Reason::internal, std::move(broken)});
}

// The workspace that the session's own was made in.
Task<Result<std::string>> Tree::workspace_above(Session session) const {
  if (!session.parent || session.workspace_mode != WorkspaceMode::worktree) co_return session.workspace;
  CO_TRY(const auto parent, services_.store.session(*session.parent));
  co_return parent ? parent->workspace : session.workspace;
}

}  // namespace deputy
