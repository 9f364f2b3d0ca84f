#include "runtime/runtime.h"

#include <utility>

namespace deputy {

Runtime::Runtime(Parts parts, Options options)
    : parts_(std::move(parts)),
      options_(std::move(options)),
      desk_(options_.attendance),
      trees_(parts_.loop) {
  parts_.store->subscribe([this](const Event& event) { publish(event); });
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
          .network = parts_.network,
          .tools = options_.tools,
          .home = options_.home,
          .hidden = options_.hidden,
          .state = parts_.state,
          .reports = options_.reports,
          .output = [this](const Session& session, std::string_view text) {
            const EventOrigin origin{session.parent.value_or(SessionId{}), session.label, session.agent};
            for (const auto& listener : output_listeners_) listener(session.id, origin, text);
          }};
}

Task<> Runtime::run_tree(std::function<Task<Result<Report>>(Tree&, StopToken)> run, Done done) {
  Tree tree(services(), options_.limits);
  auto report = co_await run(tree, trees_.token());
  done(std::move(report));
}

void Runtime::start(RootBrief root, Done done) {
  parts_.loop.post([this, root = std::move(root), done = std::move(done)]() mutable {
    trees_.spawn(run_tree([root](Tree& tree, StopToken stop) { return tree.start(root, std::move(stop)); },
                          std::move(done)));
  });
}

void Runtime::resume(SessionId root, Done done) {
  parts_.loop.post([this, root = std::move(root), done = std::move(done)]() mutable {
    trees_.spawn(run_tree([root](Tree& tree, StopToken stop) { return tree.resume(root, std::move(stop)); },
                          std::move(done)));
  });
}

void Runtime::answer(std::string question_id, Answer answer) {
  parts_.loop.post([this, id = std::move(question_id), answer = std::move(answer)]() mutable {
    desk_.answer(id, std::move(answer));
  });
}

void Runtime::cancel(StopReason reason) {
  parts_.loop.post([this, reason] { trees_.request_stop(reason); });
}

void Runtime::subscribe(Listener listener) { listeners_.push_back(std::move(listener)); }

void Runtime::subscribe_output(OutputListener listener) { output_listeners_.push_back(std::move(listener)); }

Task<Result<std::vector<std::string>>> Runtime::clean_workspace(std::string path) {
  Workspaces workspaces({parts_.loop, parts_.pool, parts_.disk, parts_.processes});
  co_return co_await workspaces.clean(std::move(path), *parts_.store);
}

void Runtime::publish(const Event& event) {
  auto& origin = origins_[event.run.session];
  if (const auto* created = std::get_if<SessionCreated>(&event.fact)) {
    origin = {created->session.parent.value_or(SessionId{}), created->session.label, created->session.agent};
  } else if (origin.agent.empty()) {
    // A session that an earlier process created.
    if (const auto known = parts_.store->session(event.run.session); known && *known) {
      origin = {(*known)->parent.value_or(SessionId{}), (*known)->label, (*known)->agent};
    }
  }
  for (const auto& listener : listeners_) listener(event, origin);
}

Task<> Runtime::close() { return trees_.join(); }

}  // namespace deputy
