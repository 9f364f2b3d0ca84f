// What the commands that start a tree have in common: the model, the folder to work in, the store, the run
// itself. All that can be wrong with the command line is found before anything is written.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/program.h"
#include "app/tree_run.h"
#include "base/json.h"

namespace deputy {

// What a command was given to work on, or what comes on stdin. `command` is for the message.
OrFailure<std::string> prompt_of(const std::optional<std::string>& given, std::string_view command);

struct RootWork {
  std::string agent;
  std::string label;
  std::string prompt;
  std::vector<Rule> rules = {};  // besides those of the person
  ModelName model;
};

// All it takes to start; the store is open. Signals are to be taken before: the store has a thread.
OrFailure<TreeRequest> tree_request(Program& program, RootWork work);
OrFailure<TreeEnd> start_tree(Program& program, RootWork work);
// The same for a tree that is there already: under its own model, folder, rules and limits. One that has
// ended is shown again without a key.
OrFailure<TreeRequest> request_for(Program& program, const Session& root, std::unique_ptr<Store> store);

// Whether a session that has ended can go on under these limits with this prompt: what the tree has used of
// them is told before anything is recorded. `root` is its tree's.
OrFailure<void> check_room(const Store& store, const Models& models, Session session, const Session& root,
                           std::string_view prompt, const TreeLimits& limits);

// The same for a tree that was left unfinished, under limits that are given now: one of its sessions has to
// have room for a request, else to go on would only end them all.
OrFailure<void> check_room_to_go_on(const Store& store, const Models& models, const Session& root,
                                    const TreeLimits& limits);

// The tree's own limits, but for those that the person gives now; nothing where none are given.
std::optional<TreeLimits> terms_for(const Session& root, const LimitSettings& given);

// Those of a tree that was left unfinished: the time that is given to go on begins when it does.
OrFailure<std::optional<TreeLimits>> terms_to_go_on(const Store& store, const Session& root,
                                                    const LimitSettings& given);

// A batch as the person's own command: it needs no approval.
RootWork batch_work(const json::object& batch, ModelName model);
// One child by profile, the same way; `call` holds the arguments of the task tool.
RootWork task_work(const json::object& call, ModelName model);
// Limits under which nothing can run are refused.
OrFailure<void> check_live_limit(const TreeLimits& limits);
OrFailure<void> check_children_limit(const TreeLimits& limits);  // nothing can that has a parent
// A batch that the limits rule out altogether is refused before it starts.
OrFailure<void> check_batch_limits(const TreeLimits& limits);

// As model_choice.h says; a name that cannot be meant is the person's mistake.
OrFailure<ModelName> chosen_model(Program& program);
// Its provider can be reached: one that has no key is a failure, told before anything is started.
OrFailure<void> check_can_spawn(Program& program, const ModelName& model);
OrFailure<Models> models_for(Program& program, const ModelName& model);

// Says so on stderr where it is no language model that works.
void tell_of_rehearsal(Program& program, const ModelName& model);

}  // namespace deputy
