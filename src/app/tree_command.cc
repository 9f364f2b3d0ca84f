#include "app/tree_command.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/agents.h"
#include "app/batch_input.h"
#include "app/model_choice.h"
#include "app/run_on.h"
#include "app/session_lookup.h"
#include "base/text.h"
#include "delegation/budgeted_provider.h"
#include "delegation/deadlines.h"
#include "delegation/profiles.h"
#include "model/command.h"
#include "model/context_estimate.h"

namespace deputy {
namespace {

std::unexpected<CommandFailure> refused(std::string message, std::string advice) {
  return std::unexpected(
      CommandFailure({ErrorCode::exhausted, std::move(message), std::move(advice)}, ExitStatus::refused));
}

// What is refused to a model with a way to go on is told to a person without it.
std::string first_sentence(const std::string& text) { return text.substr(0, text.find(". ")); }

// How the limit is raised that a refusal names.
std::string way_to_raise(const std::string& refusal) {
  const std::size_t at = std::min(refusal.rfind("raise --"), refusal.size());
  return refusal.substr(at, refusal.find_last_not_of('.') + 1 - at);
}

// Time passes only while somebody runs the tree.
Result<WallTime> when_left(const Store& store, const Session& root) {
  TRY(const auto sessions, store.sessions({.tree = root.id, .most = kAllSessions}));
  WallTime left_at = root.last_event_at;
  for (const auto& each : sessions) left_at = std::max(left_at, each.last_event_at);
  return left_at;
}

OrFailure<void> check_time(const Store& store, const Session& root, const TreeLimits& limits) {
  TRY(const auto left_at, when_left(store, root));
  const Duration before = root.limits.value_or(TreeLimits{}).time;
  const auto deadline = moved_deadline(root.deadline, before, limits.time, left_at);
  if (!deadline || *deadline > left_at) return {};
  return refused(
      fmt::format("time exhausted: the whole tree has taken all of the {} that it may", to_text(limits.time)),
      "give it more than that in all, with --timeout TIME, or --timeout none");
}

// A budget that not even the first request fits is refused before anything is started.
OrFailure<void> check_budget(const Models& models, const RootWork& work, const TreeLimits& limits) {
  if (!limits_spending(limits)) return {};
  TRY(const auto* provider, or_misused(models.find(work.model)));
  const auto first =
      first_request(*provider, work.model, tokens_in(work.prompt), Session{}.max_output_tokens, limits);
  if (!first)
    return refused(first_sentence(first.error()),
                   "set its price under [models] in the settings; see `deputy models`");
  if (const auto refusal = refusal_of(*first, {}, limits))
    return refused(first_sentence(*refusal), "raise the limit, or leave it out");
  return {};
}

// What of the project's settings does not count.
void tell_of_settings(Program& program) {
  const auto loaded = program.settings();
  if (!loaded || (*loaded)->ignored_notice.empty()) return;
  program.err.write_line(
      fmt::format("deputy: {}", made_visible(on_one_line(to_utf8((*loaded)->ignored_notice)))));
}

Task<> ask_ollama(Program& program, ModelOffer offer, std::optional<ModelName>& model) {
  model = co_await model_of_ollama(program.connections.network, program.loop, std::move(offer));
}

std::optional<ModelName> model_of_this_machine(Program& program, const ModelOffer& offer) {
  std::optional<ModelName> model;
  run_on(program.loop, ask_ollama(program, offer, model));
  return model;
}

}  // namespace

OrFailure<std::string> prompt_of(const std::optional<std::string>& given, std::string_view command) {
  std::string prompt;
  if (given) {
    prompt = *given;
  } else if (terminals_of_process().in) {
    return misused("there is no prompt",
                   fmt::format("give it as an argument, or pipe it into `deputy {}`", command));
  } else {
    TRY(prompt, or_misused(read_stdin(kMostPromptBytes)));
  }
  TRY(or_misused(check_prompt(prompt, "the prompt")));
  return prompt;
}

OrFailure<ModelName> chosen_model(Program& program) {
  TRY(const auto* loaded, program.settings());
  TRY(const auto offer, program.offer());
  const auto& wanted = program.common.model ? program.common.model : loaded->settings.model;
  if (wanted) return or_misused(named_model(*wanted, offer, program.disk.current_folder()));
  if (auto model = model_by_key(offer)) return *std::move(model);
  if (auto model = model_of_this_machine(program, offer)) return *std::move(model);
  return ModelName("rehearsal");
}

OrFailure<void> check_can_spawn(Program& program, const ModelName& model) {
  TRY(const auto offer, program.offer());
  const auto access = check_access(model, offer);
  if (access) return {};
  const Error& error = access.error();
  return std::unexpected(Error{error.code, "Cannot spawn subagents: " + error.message, error.advice});
}

OrFailure<Models> models_for(Program& program, const ModelName& model) {
  TRY(const auto offer, program.offer());
  return or_misused(models_for(model, offer, program.connections, program.loop, program.disk));
}

void tell_of_rehearsal(Program& program, const ModelName& model) {
  if (!is_rehearsal(model)) return;
  program.err.write_line(
      "deputy: this is the rehearsal model: a rule-based planner, not a language model (choose another with "
      "--model)");
}

OrFailure<void> check_live_limit(const TreeLimits& limits) {
  if (limits.live_sessions > 0) return {};
  return refused("--max-live is 0: not even the first session may run",
                 "raise --max-live, or max_live in the settings");
}

OrFailure<void> check_children_limit(const TreeLimits& limits) {
  if (limits.live_children > 0) return {};
  return refused("--max-children is 0: no child may run", "raise --max-children");
}

OrFailure<void> check_batch_limits(const TreeLimits& limits) {
  TRY(check_live_limit(limits));
  TRY(check_children_limit(limits));
  const auto profiles = Profiles::built_in();
  TRY(const auto* command, profiles.find("command"));
  TRY(const auto* reader, profiles.find("reader"));
  Session root;
  root.path = {command->name};
  if (const auto refusal = refusal_of_child(root, *reader, limits))
    return refused(refusal->message, "raise --max-depth");
  if (const auto refusal = refusal_of({.delegations = 1}, {}, limits))
    return refused(first_sentence(*refusal), "raise --max-delegations");
  return {};
}

OrFailure<void> check_room(const Store& store, const Models& models, Session session, const Session& root,
                           std::string_view prompt, const TreeLimits& limits) {
  TRY(session.parent ? check_batch_limits(limits) : check_live_limit(limits));
  TRY(check_time(store, root, limits));
  Amount need;
  if (limits_spending(limits)) {
    TRY(const auto before, store.events_of_session(session.id));
    session.model = last_model_of(session, before);
    TRY(const auto* provider, models.find(session.model));
    const auto first = first_request(*provider, session.model, first_input(session, before, prompt),
                                     session.max_output_tokens, limits);
    if (!first)
      return refused(first_sentence(first.error()),
                     "leave --max-cost out, or set its price under [models] in the settings");
    need = *first;
  }
  need.delegations = session.parent ? 1 : 0;
  TRY(const auto events, store.events_of_tree(root.id));
  if (const auto refusal = refusal_of(need, used_by(events), limits))
    return refused(first_sentence(*refusal), way_to_raise(*refusal));
  return {};
}

OrFailure<void> check_room_to_go_on(const Store& store, const Models& models, const Session& root,
                                    const TreeLimits& limits) {
  if (!limits_spending(limits)) return {};
  TRY(const auto events, store.events_of_tree(root.id));
  TRY(const auto left, store.sessions({.tree = root.id, .unfinished_only = true, .most = kAllSessions}));
  const bool is_all_on_record = root.limits && limits_spending(*root.limits);
  Amount used = used_by(events);
  std::vector<Amount> needs;
  for (const Session& session : left) {
    if (session.agent == kCommandAgent) continue;  // a command costs nothing
    TRY(const auto before, store.events_of_session(session.id));
    if (!is_all_on_record && may_have_asked(before)) used.steps += 1;
    const ModelName model = last_model_of(session, before);
    const auto provider = models.find(model);
    if (!provider) return {};  // what is wrong with it is told when it goes on
    const auto next =
        first_request(**provider, model, first_input(session, before, ""), session.max_output_tokens, limits);
    if (!next)
      return refused(first_sentence(next.error()),
                     "leave --max-cost out, or set its price under [models] in the settings");
    needs.push_back(*next);
  }
  std::optional<std::string> refusal;
  for (const Amount& need : needs) {
    refusal = refusal_of(need, used, limits);
    if (!refusal) return {};
  }
  if (!refusal) return {};
  return refused(first_sentence(*refusal), way_to_raise(*refusal));
}

std::optional<TreeLimits> terms_for(const Session& root, const LimitSettings& given) {
  if (given == LimitSettings{}) return std::nullopt;
  return changed_by(root.limits.value_or(TreeLimits{}), given);
}

OrFailure<std::optional<TreeLimits>> terms_to_go_on(const Store& store, const Session& root,
                                                    const LimitSettings& given) {
  auto terms = terms_for(root, given);
  if (!given.timeout) return terms;
  TRY(const auto left_at, when_left(store, root));
  const Duration before = root.limits.value_or(TreeLimits{}).time;
  terms->time = time_with_more(root.deadline, before, *given.timeout, left_at);
  return terms;
}

RootWork batch_work(const json::object& batch, ModelName model) {
  return {.agent = "command",
          .label = "delegate",
          .prompt = command_input("Delegate", to_json_text(batch)),
          .rules = {{.decision = Decision::allow, .tool = "Delegate"}},
          .model = std::move(model)};
}

RootWork task_work(const json::object& call, ModelName model) {
  return {.agent = "command",
          .label = "task",
          .prompt = command_input("task", to_json_text(call)),
          .model = std::move(model)};
}

OrFailure<TreeRequest> tree_request(Program& program, RootWork work) {
  TRY(const auto limits, program.limits());
  TRY(check_live_limit(limits));
  TRY(auto rules, program.rules());
  rules.insert(rules.end(), work.rules.begin(), work.rules.end());
  TRY(auto workspace, program.workspace());
  TRY(check_can_spawn(program, work.model));
  TRY(auto models, models_for(program, work.model));
  TRY(check_budget(models, work, limits));
  TRY(auto tools, program.tool_settings());
  TRY(auto profiles, profiles_for(program, workspace));
  TRY(const auto* loaded, program.settings());
  TRY(auto store, program.open_store());
  tell_of_settings(program);
  RootBrief root{.agent = std::move(work.agent),
                 .brief = {.label = std::move(work.label), .prompt = std::move(work.prompt)},
                 .model = std::move(work.model),
                 .workspace = std::move(workspace),
                 .rules = Rules(std::move(rules)),
                 .network = loaded->settings.sandbox.network.value_or(false)};
  return TreeRequest{.what = std::move(root),
                     .engine = {.limits = limits,
                                .tools = std::move(tools),
                                .models = std::move(models),
                                .profiles = std::move(profiles),
                                .store = std::move(store)}};
}

OrFailure<TreeRequest> request_for(Program& program, const Session& root, std::unique_ptr<Store> store) {
  TRY(const auto limits, program.limits());
  TRY(const auto events, store->events_of_session(root.id));
  const ModelName model = last_model_of(root, events);
  if (!is_terminal(root.state)) {
    TRY(check_can_spawn(program, model));
  }
  TRY(auto models, models_for(program, model));
  TRY(auto tools, program.tool_settings());
  TRY(auto profiles, profiles_for(program, root.workspace));
  tell_of_rehearsal(program, model);
  return TreeRequest{.what = root.id,
                     .engine = {.limits = limits,
                                .tools = std::move(tools),
                                .models = std::move(models),
                                .profiles = std::move(profiles),
                                .store = std::move(store)}};
}

OrFailure<TreeEnd> start_tree(Program& program, RootWork work) {
  TRY(auto signals, Signals::take());  // before the store's thread
  const ModelName model = work.model;
  TRY(auto request, tree_request(program, std::move(work)));
  tell_of_rehearsal(program, model);
  return run_tree(program, signals, std::move(request));
}

}  // namespace deputy
