#include "runtime/runtime.h"

#include <algorithm>
#include <iterator>
#include <ranges>
#include <utility>

#include "base/random.h"
#include "delegation/question_ids.h"
#include "runtime/inbox.h"

namespace deputy {

Runtime::Runtime(Parts parts, Options options)
    : parts_(std::move(parts)),
      options_(std::move(options)),
      desk_(options_.attendance),
      trees_(parts_.loop) {
  parts_.store->subscribe([this](const Event& event) { publish(event); });
  parts_.store->carry([this] {
    std::vector<Event> heard;
    for (Tree* tree : running_) std::ranges::move(tree->take_heard(), std::back_inserter(heard));
    return heard;
  });
}

Runtime::~Runtime() = default;

TreeServices Runtime::services() {
  return {.loop = parts_.loop,
          .store = *parts_.store,
          .pool = parts_.pool,
          .disk = parts_.disk,
          .processes = parts_.processes,
          .random = parts_.random,
          .models = parts_.models,
          .profiles = parts_.profiles,
          .asker = desk_,
          .is_attended = options_.attendance == Attendance::person,
          .network = parts_.network,
          .tools = options_.tools,
          .home = options_.home,
          .hidden = options_.hidden,
          .state = parts_.state,
          .reports = options_.reports,
          .context = options_.context,
          .output =
              [this](const Session& session, std::string_view text) {
                const EventOrigin origin{session.parent.value_or(SessionId{}), session.label, session.agent};
                for (const auto& listener : output_listeners_) listener(session.id, origin, text);
              },
          .deltas =
              [this](const Session& session, const Delta& delta) {
                for (const auto& listener : delta_listeners_) listener(session.id, delta);
              }};
}

Task<> Runtime::run_tree(std::function<Task<Result<Boxed<Report>>>(Tree&, StopToken)> run, Done done) {
  Tree tree(services(), options_.limits);
  const int taken_up_before = taken_up_;
  running_.insert(&tree);
  const std::unique_ptr<Bell> bell = options_.bell ? options_.bell() : nullptr;
  TaskGroup beside(parts_.loop);
  Inbox inbox(*parts_.store, tree, desk_);
  if (options_.inbox_every)
    beside.spawn(inbox.watch(parts_.loop, *options_.inbox_every, bell.get(), beside.token()));
  auto report = co_await run(tree, trees_.token());
  co_await beside.stop(StopReason::shutdown);
  if (options_.inbox_every) co_await inbox.look();  // what was asked of it meanwhile and is done by its end
  running_.erase(&tree);
  // What was left unfinished stays ours as long as we live: something of it may still be on its way to disk.
  if (!report && held_ == tree.id()) held_ = SessionId{};
  // Its end was told a while ago: another may have been taken up since, or this one again.
  const bool is_last = options_.holds_last && (taken_up_ == taken_up_before || held_ == tree.id());
  if (report && !tree.id().empty()) is_last ? keep_held(tree.id()) : parts_.store->release(tree.id());
  done(std::move(report));
  co_await tree.leave();
}

void Runtime::with_trees(std::function<void(Tree&)> act) {
  parts_.loop.post([this, act = std::move(act)] {
    for (Tree* tree : std::set(running_)) act(*tree);
  });
}

int Runtime::places_taken() const {
  int taken = 0;
  for (const Tree* tree : running_) taken += tree->places_taken();
  return taken;
}

void Runtime::say(SessionId root, NextInput input, Done done) {
  parts_.loop.post(
      [this, root = std::move(root), input = std::move(input), done = std::move(done)]() mutable {
        trees_.spawn(run_tree(
            [root, input](Tree& tree, StopToken stop) { return tree.say(root, input, std::move(stop)); },
            std::move(done)));
      });
}

void Runtime::keep_held(const SessionId& tree) {
  const SessionId before = std::exchange(held_, tree);
  if (!before.empty() && before != tree) parts_.store->release(before);
}

Result<std::vector<Event>> Runtime::hold(const SessionId& root) {
  TRY(auto events, parts_.store->claim(root));
  ++taken_up_;
  keep_held(root);
  return events;
}

void Runtime::cancel(SessionId session, StopReason reason) {
  with_trees([session = std::move(session), reason](Tree& tree) { tree.cancel(session, reason); });
}

void Runtime::nudge(SessionId session, std::string text) {
  with_trees([this, session = std::move(session), text = std::move(text)](Tree& tree) {
    tree.nudge_soon(session, {random_uuid(parts_.random), Source::person, text});
  });
}

void Runtime::send_to_background(SessionId child) {
  with_trees([child = std::move(child)](Tree& tree) { tree.running().send_to_background(child); });
}

void Runtime::start(RootBrief root, Done done) {
  parts_.loop.post([this, root = std::move(root), done = std::move(done)]() mutable {
    trees_.spawn(run_tree([root](Tree& tree, StopToken stop) { return tree.start(root, std::move(stop)); },
                          std::move(done)));
  });
}

void Runtime::resume(SessionId root, Done done, std::optional<TreeLimits> terms) {
  parts_.loop.post([this, root = std::move(root), done = std::move(done), terms]() mutable {
    trees_.spawn(run_tree(
        [root, terms](Tree& tree, StopToken stop) { return tree.resume(root, terms, std::move(stop)); },
        std::move(done)));
  });
}

void Runtime::answer(std::string question_id, Answer answer) {
  parts_.loop.post([this, id = std::move(question_id), answer = std::move(answer)]() mutable {
    answer.by = Source::person;
    if (desk_.answer(id, answer) || answer.kind != AnswerKind::text) return;
    for (Tree* tree : running_) tree->running().answer(asker_of(id), id, answer);
  });
}

void Runtime::cancel(StopReason reason) {
  parts_.loop.post([this, reason] {
    if (!suspends(reason)) {
      for (Tree* tree : running_) tree->cancel(tree->id(), reason);
    }
    trees_.request_stop(reason);
  });
}

void Runtime::subscribe(Listener listener) { listeners_.push_back(std::move(listener)); }

void Runtime::subscribe_output(OutputListener listener) { output_listeners_.push_back(std::move(listener)); }

void Runtime::subscribe_deltas(DeltaListener listener) { delta_listeners_.push_back(std::move(listener)); }

Task<Result<std::vector<std::string>>> Runtime::clean_workspace(std::string path) {
  Workspaces workspaces({parts_.loop, parts_.pool, parts_.disk, parts_.processes});
  co_return co_await workspaces.clean(std::move(path), *parts_.store);
}

void Runtime::publish(const Event& event) {
  auto& origin = origins_[event.run.session];
  if (const auto* created = std::get_if<SessionCreated>(&event.fact)) {
    origin = {created->session->parent.value_or(SessionId{}), created->session->label,
              created->session->agent};
  } else if (origin.agent.empty()) {
    // A session that an earlier process created.
    if (const auto known = parts_.store->session(event.run.session); known && *known) {
      origin = {(*known)->parent.value_or(SessionId{}), (*known)->label, (*known)->agent};
    }
  }
  for (const auto& listener : listeners_) listener(event, origin);
  if (std::holds_alternative<RunEnded>(event.fact))
    origins_.erase(event.run.session);  // it may be asked for again
}

Task<> Runtime::close() { return trees_.join(); }

}  // namespace deputy
