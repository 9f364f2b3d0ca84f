// One run of a session in a tree, from its place to its end, by force where it takes no other.
#include <algorithm>
#include <exception>
#include <iterator>
#include <new>
#include <utility>

#include "async/apart.h"
#include "delegation/budgeted_provider.h"
#include "delegation/own_journal.h"
#include "delegation/question_desk.h"
#include "delegation/tree.h"

namespace deputy {

namespace {

constexpr Duration kAnotherMoment = std::chrono::seconds(1);

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

// While a person is asked, the session holds no place, and its time and that of all above it stand still.
// What the person has written from another process counts also where nobody is there now. A profile may leave
// nothing to be asked.
class Tree::PatientAsker final : public Asker {
 public:
  PatientAsker(Tree& tree, const Session& session, OnAsk on_ask)
      : tree_(tree), session_(session), on_ask_(on_ask) {}

  Task<Answer> ask(Question question, StopToken stop) override {
    auto answer = on_ask_ == OnAsk::deny ? denied() : answer_in_letters(question);
    if (!answer && !tree_.services_.is_attended)
      answer = co_await tree_.services_.asker.ask(std::move(question), stop);
    if (answer) {
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

// A run with all that it begins with, in one place for all that have a part in it. One that has been stopped
// and still runs is let go: it goes on beside, and what it says is not taken.
struct Tree::Run {
  Run(Loop& of, StopToken stop, OwnJournal way_to_journal, Session whose,
      std::unique_ptr<Conversation> before, std::optional<Slots::Place> where, Budget::Hold held)
      : loop(of),
        session(std::move(whose)),
        so_far(std::move(before)),
        place(std::move(where)),
        admitted(std::move(held)),
        above(std::move(stop)),
        own(above),
        journal(std::move(way_to_journal)) {}
  ~Run() { keep_waiting(); }
  Run(const Run&) = delete;
  void keep_waiting() {
    if (const auto set = std::exchange(timer, std::nullopt)) loop.timers().cancel(*set);
  }

  Loop& loop;
  Session session;
  std::unique_ptr<Conversation> so_far;  // until its loop has it
  std::optional<Slots::Place> place;     // until it is overseen; a stopped session gets none: it only ends
  Budget::Hold admitted;                 // until then
  StopToken above;
  StopSource own;
  OwnJournal journal;
  std::exception_ptr bug = {};
  Result<Report> report = std::unexpected(Error::cancelled());
  Waiter<bool> ended = {};  // false: it has to be ended by force
  std::optional<TimerId> timer = {};
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

Task<Result<std::optional<Tree::Equipment>>> Tree::equip(std::shared_ptr<Run> run) {
  const Session& session = run->session;
  const StopToken& stop = run->above;
  const auto found = services_.profiles.find(session.agent);  // a resumed one's file may be gone by now
  auto kit = found ? kit_for(session, **found) : std::unexpected(found.error());
  if (!kit) {
    CO_TRY(co_await record_end(session, {Status::failed, Reason::internal, to_text(kit.error())},
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
      : equipment(std::move(with)),
        asker(tree, run.session, equipment.profile->on_ask),
        processes(tree.services_.processes, run.journal, run.session),
        budgeted({.inner = *equipment.kit.provider,
                  .budget = *tree.budget_,
                  .first = std::move(tree.live_[run.session.id].first),
                  .has_asked = run.so_far->asked}),
        post(tree.running_, run.session.id, *run.so_far),
        mail(tree.mail_of(run.session, post.box())),
        agent(parts(tree, run), std::move(*run.so_far)) {
    run.so_far.reset();
  }
  Work(const Work&) = delete;

  Agent::Parts parts(Tree& tree, Run& run) {
    const Session& session = run.session;
    const TreeServices& services = tree.services_;
    const auto& [profile, kit, workspace] = equipment;
    const bool is_free = !profile->driver.empty();  // a command costs nothing but what its children do
    return {.session = session,
            .run = session.run,
            .limits = limits_of(session, *profile, *kit.provider, *kit.prefix),
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
                [&tree, &session](const Delta& delta) {
                  tree.deadlines_.heard(session.id);
                  if (tree.services_.deltas) tree.services_.deltas(session, delta);
                },
            .complete = [&tree, &session](Report ended) { return tree.complete(session, std::move(ended)); }};
  }

  Equipment equipment;
  PatientAsker asker;
  MeteredProcesses processes;
  BudgetedProvider budgeted;
  Children::Post post;
  std::unique_ptr<Mail> mail;
  Agent agent;
};

Task<Result<Report>> Tree::run_session(std::shared_ptr<Run> run) {
  const Session& session = run->session;
  CO_TRY(auto equipment, co_await equip(run));
  if (!equipment) co_return report_of_ended(session.id);
  deadlines_.start(session, run->own);
  const auto work = std::make_unique<Work>(*this, *run, *std::move(equipment));
  std::exception_ptr bug;
  Result<Report> report = std::unexpected(Error::cancelled());
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
