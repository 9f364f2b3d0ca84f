#include "delegation/tree.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "delegation/delegate_tool.h"
#include "tools/catalog.h"

namespace deputy {

namespace {

Reason reason_of(const Error& error) {
  switch (error.code) {
    case ErrorCode::denied:
      return Reason::denied;
    case ErrorCode::exhausted:
      return Reason::budget;
    case ErrorCode::cancelled:
      return Reason::parent_stopped;
    default:
      return Reason::internal;
  }
}

}  // namespace

Report report_of_refusal(const Delegation& delegation, const Error& error) {
  Report report;
  report.status = Status::failed;
  report.reason = reason_of(error);
  report.summary = shorten(error.message, kSummaryCharacters);
  report.errors.push_back({.type = std::string(name_of(report.reason)),
                           .message = error.message,
                           .recoverable = !error.advice.empty(),
                           .recommendation = error.advice});
  report.agent = delegation.agent;
  report.label = delegation.brief.label;
  report.depth = delegation.parent.depth + 1;
  return report;
}

Tree::Tree(TreeServices services, TreeLimits limits)
    : services_(services), limits_(limits), tools_(builtin_tools()), slots_(limits) {
  tools_.push_back(std::make_shared<DelegateTool>(*this));
}

Tree::~Tree() = default;

Task<Result<Report>> Tree::start(RootBrief root, StopToken stop) {
  CO_TRY(auto session, root_session(root));
  CO_TRY(claim(session.id));
  co_return co_await begin(std::move(session), RunStarted{}, Source::person, std::move(stop));
}

Task<Result<Report>> Tree::resume(SessionId root, StopToken stop) {
  CO_TRY(auto session, services_.store.session(root));
  if (!session)
    co_return fail(ErrorCode::not_found, "there is no session " + root.value, "see `deputy sessions ls`");
  if (session->parent) {
    co_return fail(ErrorCode::invalid, root.value + " is a child: a tree is resumed from its root",
                   "run `deputy resume " + session->tree.value + "`");
  }
  CO_TRY(claim(root));
  CO_TRY(const auto all, services_.store.sessions({.tree = root, .most = 1'000'000}));
  delegations_ = static_cast<int>(all.size()) - 1;
  co_return co_await go_on(*std::move(session), std::move(stop));
}

Result<void> Tree::claim(SessionId id) {
  TRY(services_.store.claim(id));
  id_ = std::move(id);
  return {};
}

SessionId Tree::unused_id() const {
  for (;;) {
    SessionId id = new_session_id(services_.loop.clock(), services_.random);
    const auto taken = services_.store.session(id);
    if (!taken || !*taken) return id;
  }
}

Result<Session> Tree::root_session(const RootBrief& root) const {
  TRY(const auto* profile, services_.profiles.find(root.agent));
  Session session;
  session.id = unused_id();
  session.uuid = Uuid(random_uuid(services_.random));
  session.tree = session.id;
  session.label = root.brief.label;
  session.agent = profile->name;
  session.path = {profile->name};
  session.model = root.model;
  session.workspace = root.workspace;
  session.permissions = root.rules.to_json();
  session.max_turns = profile->max_turns;
  if (root.brief.max_output_tokens) session.max_output_tokens = *root.brief.max_output_tokens;
  session.prompt = root.brief.prompt;
  return session;
}

Result<Session> Tree::child_session(const Delegation& delegation, const Profile& profile) const {
  const Session& parent = delegation.parent;
  Session session;
  session.id = unused_id();
  session.uuid = Uuid(random_uuid(services_.random));
  session.tree = id_;
  session.parent = parent.id;
  session.delegation = delegation.key;
  session.label = delegation.brief.label;
  session.agent = profile.name;
  session.depth = parent.depth + 1;
  session.path = parent.path;
  session.path.push_back(profile.name);
  session.model = delegation.brief.model.value_or(profile.model.value_or(delegation.model));
  session.workspace = parent.workspace;
  session.permissions = parent.permissions;
  session.max_turns = profile.max_turns;
  session.max_output_tokens = delegation.brief.max_output_tokens.value_or(
      profile.max_output_tokens.value_or(parent.max_output_tokens));
  if (profile.timeout) {
    session.deadline = services_.loop.clock().wall() +
                       std::chrono::duration_cast<std::chrono::microseconds>(*profile.timeout);
  }
  session.prompt = delegation.brief.prompt;
  TRY(services_.models.find(session.model));
  return session;
}

Task<Report> Tree::delegate(Delegation delegation, StopToken stop) {
  const SessionId parent = delegation.parent.id;
  const SessionId grandparent = delegation.parent.parent.value_or(SessionId{});
  Live& live = live_[parent];
  if (live.children++ == 0) live.place.reset();
  auto report = co_await attach_or_create(delegation, stop);
  if (--live_[parent].children == 0) {
    auto place = co_await slots_.take(grandparent, stop);
    if (Live& back = live_[parent]; back.children == 0 && !back.place) back.place = std::move(place);
  }
  if (report) co_return *std::move(report);
  co_return report_of_refusal(delegation, report.error());
}

bool Tree::has_child(const DelegationKey& key) const {
  const auto found = services_.store.child_of(key);
  return found && *found;
}

Task<Result<Report>> Tree::attach_or_create(Delegation delegation, StopToken stop) {
  CO_TRY(auto existing, services_.store.child_of(delegation.key));
  if (existing) co_return co_await go_on(*std::move(existing), std::move(stop));
  if (stop.stopped()) co_return fail(ErrorCode::cancelled, "not started: its parent was stopped");
  CO_TRY(const auto* profile, services_.profiles.find(delegation.agent));
  if (auto refusal = refusal_of_child(delegation.parent, *profile, limits_, delegations_)) {
    co_return fail(ErrorCode::exhausted, *std::move(refusal));
  }
  delegations_ += 1;
  auto session = child_session(delegation, *profile);
  if (!session) {
    delegations_ -= 1;
    co_return std::unexpected(std::move(session).error());
  }
  co_return co_await begin(*std::move(session), RunStarted{delegation.index, delegation.total},
                           Source::parent, stop);
}

Task<Result<Report>> Tree::begin(Session session, RunStarted started, Source source, StopToken stop) {
  auto place = co_await slots_.take(session.parent.value_or(SessionId{}), stop);
  if (!place) co_return fail(ErrorCode::cancelled, "not started: stopped while it waited for a place");
  std::vector<Event> events(3);
  for (auto& event : events) {
    event.tree = session.tree;
    event.run = {session.id, session.run};
  }
  events[0].fact = SessionCreated{session};
  events[1].fact = started;
  events[2].fact = InputGiven{source, session.prompt};
  Conversation so_far = conversation_of(events);
  so_far.started_at = services_.loop.clock().wall();
  CO_TRY(co_await services_.store.record(std::move(events)));
  co_return co_await run_in_place(std::move(session), std::move(so_far), std::move(place), std::move(stop));
}

Task<Result<Report>> Tree::go_on(Session session, StopToken stop) {
  CO_TRY(const auto events, services_.store.events_of_session(session.id));
  Conversation so_far = conversation_of(events);
  if (so_far.ended) co_return *so_far.ended;
  auto place = co_await slots_.take(session.parent.value_or(SessionId{}), stop);
  co_return co_await run_in_place(std::move(session), std::move(so_far), std::move(place), std::move(stop));
}

Task<Result<Report>> Tree::run_in_place(Session session, Conversation so_far,
                                        std::optional<Slots::Place> place, StopToken stop) {
  const SessionId id = session.id;
  live_[id].place = std::move(place);  // a stopped session gets none: it only has its end to record
  auto report = co_await run_session(std::move(session), std::move(so_far), std::move(stop));
  live_.erase(id);
  co_return report;
}

Task<Result<Report>> Tree::run_session(Session session, Conversation so_far, StopToken stop) {
  CO_TRY(const auto* profile, services_.profiles.find(session.agent));
  auto kit = kit_for(session, *profile);
  if (!kit) co_return co_await record_end(session, {Status::failed, Reason::internal, to_text(kit.error())});
  auto workspace = co_await workspace_of(session);
  if (!workspace)
    co_return co_await record_end(session, {Status::failed, Reason::denied, to_text(workspace.error())});

  StopSource own(stop);
  if (session.deadline) {
    own.set_deadline(services_.loop.timers(),
                     services_.loop.clock().now() + (*session.deadline - services_.loop.clock().wall()));
  }
  std::string bug;
  try {
    Agent agent({.session = session,
                 .run = session.run,
                 .limits = {session.max_turns},
                 .provider = *kit->provider,
                 .prefix = kit->prefix,
                 .toolbox = *kit->toolbox,
                 .workspace = **workspace,
                 .journal = services_.store,
                 .loop = services_.loop,
                 .pool = services_.pool,
                 .processes = services_.processes,
                 .asker = services_.asker},
                std::move(so_far));
    co_return co_await agent.run(own.token());
  } catch (const std::exception& error) {
    bug = error.what();
  }
  co_return co_await record_end(std::move(session),
                                {Status::failed, Reason::internal, "a bug in deputy: " + bug});
}

Task<Result<Report>> Tree::record_end(Session session, Finish finish) {
  CO_TRY(const auto events, services_.store.events_of_session(session.id));
  const Conversation so_far = conversation_of(events);
  if (so_far.ended) co_return *so_far.ended;
  Report report = report_of(so_far, session, finish, services_.loop.clock().wall());
  std::vector<Event> end(1);
  end[0].tree = session.tree;
  end[0].run = {session.id, session.run};
  end[0].step = so_far.step;
  end[0].fact = RunEnded{report};
  CO_TRY(co_await services_.store.record(std::move(end)));
  co_return report;
}

Result<Tree::Kit> Tree::kit_for(const Session& session, const Profile& profile) {
  const std::string key = fmt::format("{}\n{}\n{}\n{}\n{}", profile.name, session.model.value,
                                      session.max_output_tokens, session.depth > 0, session.permissions);
  if (const auto found = kits_.find(key); found != kits_.end()) return found->second;

  std::vector<std::shared_ptr<Tool>> granted;
  for (const auto& name : profile.tools) {
    const auto tool = std::ranges::find(tools_, name, [](const auto& each) { return each->text().name; });
    if (tool == tools_.end())
      return fail(ErrorCode::not_found,
                  fmt::format("agent '{}' wants the unknown tool '{}'", profile.name, name));
    granted.push_back(*tool);
  }
  TRY(auto rules, Rules::from_json(session.permissions));
  TRY(auto toolbox, Toolbox::make(std::move(granted), std::move(rules)));
  auto prefix = std::make_shared<RequestPrefix>();
  prefix->model = session.model;
  prefix->system = system_prompt(profile, session.depth);
  prefix->max_output_tokens = session.max_output_tokens;
  for (const auto& text : toolbox.texts())
    prefix->tools.push_back({text.name, text.description, text.schema});
  Kit kit{.prefix = std::move(prefix), .toolbox = std::make_shared<const Toolbox>(std::move(toolbox))};
  TRY(kit.provider,
      services_.models.find(profile.driver.empty() ? session.model : ModelName(profile.driver)));
  return kits_.emplace(key, std::move(kit)).first->second;
}

Task<Result<std::shared_ptr<const Folder>>> Tree::workspace_of(Session session) {
  if (const auto found = workspaces_.find(session.workspace); found != workspaces_.end())
    co_return found->second;
  const Disk& disk = services_.disk;
  auto opened = co_await on_pool(services_.loop, services_.pool, [&disk, path = session.workspace] {
    return disk.open(path, IfAbsent::fail);
  });
  if (!opened) co_return std::unexpected(std::move(opened).error());
  co_return workspaces_.emplace(session.workspace, *std::move(opened)).first->second;
}

}  // namespace deputy
