// What a tree does with the reports of its sessions.
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "delegation/command_outcome.h"
#include "delegation/tree.h"

namespace deputy {

namespace {

bool must_report(const Profile& profile) {
  return profile.returns == Returns::report || !profile.output_schema.empty();
}

ReportedError ended_by_force(const Session& session) {
  return {
      .type = "internal",
      .code = std::string(kForcedEnd),
      .message = fmt::format("it had not ended {} after its stop, so its end was recorded for it; what it "
                             "was doing may still go on",
                             to_text(kEndTime)),
      .recoverable = true,
      .recommendation = fmt::format("`deputy sessions show {}` names its last call", session.id.value)};
}

ReportedError artifacts_unchecked() {
  return {.type = "internal",
          .code = "ARTIFACTS_UNCHECKED",
          .message = "nobody has looked whether the artifacts that it names exist",
          .recoverable = true,
          .recommendation = "look for each before you rely on it"};
}

Report without_branch(Report report, const Session& session, std::string_view why) {
  report.workspace = {.mode = session.workspace_mode, .path = session.workspace};
  report.errors.push_back({.type = "workspace",
                           .code = "WORKSPACE",
                           .message = fmt::format("its work could not be put on a branch: {}", why),
                           .recoverable = true,
                           .recommendation = "it is still in " + session.workspace});
  return report;
}

// In the runtime's own word on the end: the one that nobody has answered.
void name_question(Report& report, const std::vector<Event>& events) {
  constexpr std::size_t kMostCharacters = 200;
  if (report.errors.empty() || report.errors.front().code != code_of(report.reason)) return;
  const Question* open = nullptr;
  for (const Event& event : events) {
    const auto* asked = std::get_if<QuestionAsked>(&event.fact);
    if (asked && asked->question.kind != QuestionKind::permission) open = &asked->question;
    const auto* answered = std::get_if<QuestionAnswered>(&event.fact);
    if (answered && open && answered->question_id == open->id && answered->answer.kind != AnswerKind::nobody)
      open = nullptr;
  }
  if (open)
    report.errors.front().message += fmt::format(": {}", shorten(on_one_line(open->text), kMostCharacters));
}

// Of the room beside system prompt and tools: what is left must hold the summary.
constexpr std::int64_t kCompactPercent = 80;

// A root goes on for as long as the person does; a child ends partial where its window does, unless its
// profile says otherwise.
std::optional<std::int64_t> compact_above(const Session& session, const Profile& profile,
                                          const Provider& provider, std::int64_t always) {
  if (!profile.driver.empty() || !profile.compact.value_or(session.depth == 0)) return std::nullopt;
  std::int64_t window = provider.window(session.model);
  if (profile.max_context_tokens) window = std::min<std::int64_t>(window, *profile.max_context_tokens);
  if (window <= always) return std::nullopt;  // no summary would make it fit
  return always + (window - always) * kCompactPercent / 100;
}

}  // namespace

bool may_report(const Session& session, const Profile& profile) {
  return session.depth > 0 && (!profile.hidden || must_report(profile));
}

RunLimits limits_of(const Session& session, const Profile& profile, const Provider& provider,
                    std::int64_t prefix_tokens, const TreeLimits& tree) {
  constexpr auto kNone = kUnlimited<std::int64_t>;
  RunLimits limits{.max_turns = session.max_turns,
                   .max_context_tokens = profile.max_context_tokens,
                   .max_messages = profile.max_messages,
                   .prefix_tokens = prefix_tokens,
                   .compact_above = compact_above(session, profile, provider, prefix_tokens),
                   .is_on_budget = tree.tokens != kNone || tree.cost_micros != kNone,
                   .is_delegated = session.depth > 0};
  if (may_report(session, profile))
    limits.reporting = must_report(profile) ? Reporting::demanded : Reporting::offered;
  return limits;
}

// Also those that a process before this one left, and that no call came to take up again.
Task<> Tree::end_children_of(SessionId id) {
  for (const SessionId& child : children_[id]) {
    if (!left_.contains(child)) continue;
    if (auto session = services_.store.session(child); session && *session)
      take_up_child(**session, Children::Where::awaited, {});
  }
  co_await running_.end_all_of(id);
}

Task<Report> Tree::complete(Session session, Report report) {
  if (report.reason == Reason::question_unanswered) {
    if (const auto events = services_.store.events_of_session(session.id)) name_question(report, *events);
  }
  background_.cancel_all_of(session.id);  // before the children, whose ends may take their time
  co_await end_children_of(session.id);
  co_await background_.end_all_of(session.id);  // nothing may change any more what is looked at now
  pass_wait_on(session);
  // What passes while no limit of time holds is not taken from the one that it was started with.
  if (session.id == id_ && !session.deadline) tell_moved({session.id, session.run}, std::nullopt);
  if (const auto profile = services_.profiles.find(session.agent); profile && !(*profile)->driver.empty()) {
    if (const auto children = services_.store.sessions({.parent = session.id, .most = kAllSessions}))
      report = judged_by_children(std::move(report), session, *children);
  }
  std::string bug;
  try {
    co_return co_await with_its_work(session, report);
  } catch (const std::exception& broken) {
    bug = std::string("a bug in deputy: ") + broken.what();
  }
  co_return without_branch(std::move(report), session, bug);
}

Task<Report> Tree::with_its_work(Session session, Report report) {
  const auto above = co_await workspace_above(session);
  if (above && !report.artifacts.empty()) {
    auto workspace = co_await workspaces_.open(session, *above, {});
    if (workspace)
      report = co_await reports_.checked(std::move(report), *std::move(workspace), roots_of(session.id));
  }
  auto finished = above ? co_await workspaces_.finish(session, *above) : std::unexpected(above.error());
  if (finished) {
    report.workspace = std::move(finished->outcome);
    if (!finished->left_out.empty()) {
      report.errors.push_back(
          {.type = "workspace",
           .code = "WORKSPACE",
           .message = fmt::format("not put on the branch, since they are git repositories of their own: {}",
                                  fmt::join(finished->left_out, ", ")),
           .recoverable = true,
           .recommendation = "they are still in " + session.workspace});
    }
    co_return report;
  }
  co_return without_branch(std::move(report), session, finished.error().message);
}

Task<Result<Boxed<Report>>> Tree::record_end(Session session, Finish finish, Ending ending) {
  CO_TRY(const auto events, services_.store.events_of_session(session.id));
  Conversation so_far = conversation_of(events);
  std::vector<Event> end;
  const auto add = [&](Fact fact) {
    Event event;
    event.tree = session.tree;
    event.run = {session.id, session.run};
    event.step = so_far.step;
    event.fact = std::move(fact);
    end.push_back(std::move(event));
  };
  if (so_far.ended) {
    const auto is_of_this_run = [&session](const Event& event) {
      return event.run.number == session.run && std::holds_alternative<RunEnded>(event.fact);
    };
    if (std::ranges::any_of(events, is_of_this_run)) co_return *so_far.ended;
    // Another run, stopped before there was a place for it: the report of the one before is not its own.
    add(RunStarted{.deadline = on_record(session.id, session.deadline)});
    apply(so_far, end.back());
  }
  Report report = report_of(so_far, session, finish, services_.loop.clock().wall());
  if (ending != Ending::by_force) {
    report = co_await complete(session, std::move(report));
    if (ending == Ending::by_itself && lost_.contains(session.id))
      co_return std::unexpected(Error::cancelled());
  } else {
    if (report.reason == Reason::question_unanswered) name_question(report, events);
    co_await end_children_of(session.id);
    pass_wait_on(session);
    report.workspace = {.mode = session.workspace_mode, .path = session.workspace};
    report.errors.push_back(ended_by_force(session));
    if (!report.artifacts.empty()) report.errors.push_back(artifacts_unchecked());
  }
  add(RunEnded{report});
  CO_TRY(co_await services_.store.record(std::move(end)));
  co_return report;
}

Task<> Tree::log_errors(SessionId session, Report report) {
  if (report.errors.empty()) co_return;
  const auto root = services_.store.session(id_);
  report.session = std::move(session);
  co_await reports_.log(std::move(report), root && *root ? (*root)->label : "");
}

}  // namespace deputy
