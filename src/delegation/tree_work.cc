// What a run does: what it works with is put together, its loop runs, and what it left beside is ended.
#include <algorithm>
#include <exception>
#include <iterator>
#include <new>
#include <utility>

#include "delegation/budgeted_provider.h"
#include "delegation/question_desk.h"
#include "delegation/tree_run.h"

namespace deputy {

namespace {

// What the processes of a session use is put on record when they have ended.
class MeteredProcesses final : public Processes {
 public:
  MeteredProcesses(Processes& processes, Journal& journal, const Session& session)
      : processes_(processes), journal_(journal), session_(session) {}

  Task<Result<ProcessResult>> run(ProcessSpec spec, StopToken stop) override {
    std::string program = spec.argv.empty() ? "" : spec.argv.front();
    spec.on_use = [this, program = std::move(program)](const ProcessUse& use) {
      std::vector<Event> events(1);
      events[0].tree = session_.tree;
      events[0].run = {session_.id, session_.run};
      events[0].fact = ProcessEnded{program, use.cpu, use.memory};
      journal_.ride_along(std::move(events));
    };
    return processes_.run(std::move(spec), std::move(stop));
  }

 private:
  Processes& processes_;
  Journal& journal_;
  const Session& session_;
};

}  // namespace

// While a person is asked, the session holds no place, and its time and that of all above it stand still.
// What the person has written from another process counts also where nobody is there now. A profile may leave
// nothing to be asked.
class Tree::PatientAsker final : public Asker {
 public:
  PatientAsker(Tree& tree, const Session& session, OnAsk on_ask)
      : tree_(tree), session_(session), on_ask_(on_ask) {}

  bool answers_at_once() const override { return on_ask_ == OnAsk::deny || !tree_.services_.is_attended; }

  Task<Answer> ask(Question question, StopToken stop) override {
    auto answer = on_ask_ == OnAsk::deny ? denied() : answer_in_letters(question);
    if (answer || !tree_.services_.is_attended) {
      if (!answer) answer = co_await tree_.services_.asker.ask(std::move(question), std::move(stop));
      tree_.tell_settled(session_);
      co_return *std::move(answer);
    }
    const std::string id = question.id;
    tree_.deadlines_.hold(session_.id);
    co_await tree_.rest_with_question(session_, question);
    answer = co_await tree_.services_.asker.ask(std::move(question), stop);
    for (const auto& moved : tree_.deadlines_.go_on(session_.id)) tree_.tell_moved(moved.run, moved.deadline);
    co_await tree_.work_again(session_, id, std::move(stop));
    co_return *std::move(answer);
  }

 private:
  static std::optional<Answer> denied() {
    return Answer{.kind = AnswerKind::refused, .text = "this agent may do only what its rules allow"};
  }
  std::optional<Answer> answer_in_letters(const Question& question) const {
    const auto letters = tree_.services_.store.letters(tree_.id_);
    if (!letters) return std::nullopt;
    const auto left = std::ranges::find(*letters, question.id, &Letter::question);
    if (left == letters->end()) return std::nullopt;
    return answer_in_words(question, left->text);
  }

  Tree& tree_;
  const Session& session_;
  OnAsk on_ask_;
};

Task<Result<std::optional<Tree::Equipment>>> Tree::equip(std::shared_ptr<Run> run) {
  const Session& session = run->session;
  const StopToken& stop = run->above;
  const auto found = services_.profiles.find(session.agent);  // a resumed one's file may be gone by now
  auto kit = found ? kit_for(session, **found) : std::unexpected(found.error());
  if (!kit) {
    CO_TRY(co_await record_end(
        session, {Status::failed, found ? Reason::internal : Reason::denied, to_text(kit.error())},
        Ending::by_itself));
    co_return std::nullopt;
  }
  CO_TRY(const auto above, co_await workspace_above(session));
  auto workspace = co_await workspaces_.open(session, above, stop);
  if (lost_.contains(session.id)) co_return std::unexpected(Error::cancelled());
  if (workspace) co_return Equipment{*found, *std::move(kit), *std::move(workspace)};
  if (suspends(stop.reason())) co_return std::unexpected(Error::cancelled());
  const Next next = decide(*run->so_far, {}, stop.reason());
  const auto* stopped = stop.stopped() ? std::get_if<Finish>(&next) : nullptr;
  CO_TRY(co_await record_end(
      session, stopped ? *stopped : Finish{Status::failed, Reason::denied, to_text(workspace.error())},
      Ending::by_itself));
  co_return std::nullopt;
}

// The loop of a session and what it works with, while it runs: made at once, so that nothing it is made from
// stays in the frame of who waits for it.
struct Tree::Work {
  Work(Tree& tree, Run& run, Equipment with)
      : within(tree),
        id(run.session.id),
        equipment(std::move(with)),
        asker(tree, run.session, equipment.profile->on_ask),
        processes(tree.services_.processes, run.journal, run.session),
        budgeted({.inner = *equipment.kit.provider,
                  .budget = *tree.budget_,
                  .journal = run.journal,
                  .first = std::move(tree.live_[run.session.id].first),
                  .has_asked = run.so_far->asked}),
        post(tree.running_, run.session.id, *run.so_far),
        mail(tree.mail_of(run.session, post.box())),
        agent(parts(tree, run), std::move(*run.so_far)) {
    run.so_far.reset();
    tree.live_[id].work = this;
  }
  Work(const Work&) = delete;
  // One that was let go may not be known any more, or a further run of its session in its place.
  ~Work() {
    const auto live = within.live_.find(id);
    if (live != within.live_.end() && live->second.work == this) live->second.work = nullptr;
  }

  Agent::Parts parts(Tree& tree, Run& run) {
    const Session& session = run.session;
    const TreeServices& services = tree.services_;
    const auto& [profile, kit, workspace] = equipment;
    const bool is_free = !profile->driver.empty();  // a command costs nothing but what its children do
    return {.session = session,
            .run = session.run,
            .limits = limits_of(session, *profile, *kit.provider, kit.prefix_tokens, tree.limits_),
            .provider = is_free ? *kit.provider : budgeted,
            .prefix = kit.prefix,
            .toolbox = *kit.toolbox,
            .workspace = *workspace,
            .journal = run.journal,
            .loop = services.loop,
            .pool = services.pool,
            .processes = processes,
            .asker = asker,
            .mail = mail.get(),
            .above = run.above,
            .roots = [&tree, &session] { return tree.roots_of(session.id); },
            .home = services.home,
            .hidden = services.hidden,
            .state = services.state.get(),
            .children = [&tree, &session] { return tree.children_[session.id]; },
            .output =
                [&tree, &session](std::string_view text) {
                  tree.deadlines_.heard(session.id);
                  if (tree.services_.output) tree.services_.output(session, text);
                },
            .keep =
                [&tree, id = session.id](std::string name, std::string text) {
                  return tree.reports_.keep(id, std::move(name), std::move(text));
                },
            .deltas =
                [this, &tree, &session](const Delta& delta) {
                  if (!session.deadline) tree.deadlines_.heard(session.id);  // else it matters to nobody
                  if (std::holds_alternative<TextDelta>(delta) && !is_heard) {
                    tree.heard_.push_back(session.id);
                    is_heard = true;
                  }
                  if (tree.services_.deltas) tree.services_.deltas(session, delta);
                },
            .complete = [&tree, &session](Report ended) { return tree.complete(session, std::move(ended)); }};
  }

  Tree& within;
  const SessionId& id;
  bool is_heard = false;  // it is among those that take_heard() asks next
  Equipment equipment;
  PatientAsker asker;
  MeteredProcesses processes;
  BudgetedProvider budgeted;
  Children::Post post;
  std::unique_ptr<Mail> mail;
  Agent agent;
};

Task<Result<Boxed<Report>>> Tree::run_session(std::shared_ptr<Run> run) {
  const Session& session = run->session;
  CO_TRY(auto equipment, co_await equip(run));
  if (!equipment) co_return report_of_ended(session.id);
  deadlines_.start(session, run->own);
  const auto work = std::make_unique<Work>(*this, *run, *std::move(equipment));
  std::exception_ptr bug;
  Children::Ended report = std::unexpected(Error::cancelled());
  try {
    CO_TRY(co_await take_up_children(work->agent.conversation().beside, work->post, run->own.token()));
    report = co_await work->agent.run(run->own.token());
  } catch (...) {
    bug = std::current_exception();
  }
  background_.cancel_all_of(session.id);
  co_await running_.end_all_of(session.id);
  co_await background_.end_all_of(session.id);
  if (lost_.contains(session.id)) co_return std::unexpected(Error::cancelled());
  end_clock_of(session.id);
  if (bug) std::rethrow_exception(bug);
  co_return report;
}

std::vector<Event> Tree::take_heard() {
  std::vector<Event> heard;
  const auto asked = std::exchange(heard_, {});
  const auto work_of = [this](const SessionId& id) {
    const auto live = live_.find(id);
    return live == live_.end() ? nullptr : live->second.work;
  };
  // Who has too little for a piece is asked again once there is more.
  for (const SessionId& id : asked)
    if (Work* const work = work_of(id)) work->is_heard = false;
  try {
    for (const SessionId& id : asked) {
      Work* const work = work_of(id);
      if (!work) continue;
      if (auto piece = work->agent.take_heard()) heard.push_back(*std::move(piece));
    }
  } catch (const std::bad_alloc&) {
    // The rest may be lost: who records just now does not end for want of memory for it.
  }
  return heard;
}

std::vector<const Folder*> Tree::roots_of(const SessionId& session) {
  auto roots = services_.tools.root_folders();
  std::ranges::copy(reports_.roots_of(session), std::back_inserter(roots));
  return roots;
}

// The workspace that the session's own was made in.
Task<Result<std::string>> Tree::workspace_above(Session session) const {
  if (!session.parent || session.workspace_mode != WorkspaceMode::worktree) co_return session.workspace;
  CO_TRY(const auto parent, services_.store.session(*session.parent));
  co_return parent ? parent->workspace : session.workspace;
}

}  // namespace deputy
