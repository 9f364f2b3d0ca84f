#include "chance_play.h"

#include <fmt/format.h>

#include <stdexcept>

#include "agent/conversation.h"
#include "server_faults.h"

namespace deputy {

using namespace std::chrono_literals;

Chance::Chance(std::uint64_t seed, std::string_view thrown_for)
    : random_(std::hash<std::string>{}(fmt::format("{} {}", seed, thrown_for))) {}

namespace {

constexpr int kMostSteps = 6;

std::string agent_by(Chance& chance) {
  constexpr std::array<std::string_view, 9> kAgents{"worker", "worker",    "still",    "explore", "general",
                                                    "formal", "forgetful", "nobody's", "greedy"};
  return std::string(kAgents[chance.below(kAgents.size())]);
}

// Its prompt is like no other's, so what one agent is told no other one is.
std::string prompt_by(Chance& chance) { return fmt::format("look into {:x}", chance.below(1ULL << 60)); }

Call task_by(Chance& chance) {
  std::string more;
  if (chance.one_in(3)) more += R"(,"run_in_background":true)";
  if (chance.one_in(6)) more += fmt::format(R"(,"timeout":{})", 1 + chance.below(600));
  if (chance.one_in(12)) more += R"(,"timeout":"none")";
  if (chance.one_in(8)) more += fmt::format(R"(,"max_turns":{})", 1 + chance.below(4));
  return call_of(
      "task", fmt::format(R"({{"agent":"{}","prompt":"{}"{}}})", agent_by(chance), prompt_by(chance), more));
}

Call batch_by(Chance& chance) {
  std::string tasks;
  const std::uint64_t count = 1 + chance.below(3);
  for (std::uint64_t i = 0; i < count; ++i)
    tasks += fmt::format(R"({}{{"label":"r{}","prompt":"{}"}})", i ? "," : "", i, prompt_by(chance));
  return call_of("Delegate", fmt::format(R"({{"tasks":[{}],"concurrency":{}}})", tasks, 1 + chance.below(4)));
}

// About one of the children that it was told of; of none at all where there are none.
Call about_child_by(Chance& chance, const Scene& scene) {
  const std::size_t known = scene.times_heard("\nid: sess_") + 1;
  const std::string id = scene.value_of("id: ", chance.below(known));
  switch (chance.below(5)) {
    case 0:
      return call_of("task_status", "{}");
    case 1:
      return call_of("task_status",
                     fmt::format(R"({{"id":"{}","wait_seconds":{}}})", id, 1 + chance.below(60)));
    case 2:
      return call_of("task_cancel", fmt::format(R"({{"id":"{}"}})", id));
    case 3:
      return call_of(
          "task", fmt::format(R"({{"agent":"worker","prompt":"{}","resume":"{}"}})", prompt_by(chance), id));
    default:
      return call_of("task_message", fmt::format(R"({{"id":"{}","text":"look at b too"}})", id));
  }
}

Call completion_by(Chance& chance) {
  switch (chance.below(4)) {
    case 0:
      return call_of("task_completion", R"({"status":"splendid"})");
    case 1:
      return call_of("task_completion",
                     R"({"status":"completed","summary":"made","artifacts":[{"path":"never-made.txt"}]})");
    case 2:
      return call_of("task_completion", R"({"status":"blocked","summary":"there is no key"})");
    default:
      return call_of("task_completion", R"({"status":"completed","summary":"found","body":"all of it"})");
  }
}

Call call_by(Chance& chance, const Scene& scene) {
  if (scene.agent == "forgetful" && chance.one_in(2))
    return call_of("Read", fmt::format(R"({{"file_path":"{}"}})", kLongFile));
  const bool has_question = scene.heard.contains("question_id: ");
  switch (chance.below(14)) {
    case 0:
    case 1:
      return call_of("Read", R"({"file_path":"a.txt"})");
    case 2:
      return call_of("Read", R"({"file_path":"nowhere.txt"})");
    case 3:
      return call_of("Note", fmt::format(R"({{"content":"noted {:x}"}})", chance.below(1ULL << 60)));
    case 4:
    case 5:
      return call_of("Bash", fmt::format(R"({{"command":"{}{:x}"}})", kCommand, chance.below(1ULL << 60)));
    case 6:
      return call_of("Write", fmt::format(R"({{"file_path":"w{:x}.txt","content":"written"}})",
                                          chance.below(1ULL << 60)));
    case 7:
      return batch_by(chance);
    case 8:
      return call_of("spawn_subagent", fmt::format(R"({{"agent":"{}","task":"{} and ask"}})",
                                                   agent_by(chance), prompt_by(chance)));
    case 9:
      if (scene.depth > 0) return call_of("ask_parent", R"({"question":"Which?"})");
      return call_of("ask_user", R"({"question":"Enough?"})");
    case 10:
      return about_child_by(chance, scene);
    case 11:
      if (has_question)
        return call_of(
            "answer_subagent",
            fmt::format(R"({{"question_id":"{}","answer":"this one"}})",
                        scene.value_of("question_id: ", chance.below(scene.times_heard("question_id: ")))));
      return call_of("Glob", R"({"pattern":"*"})");
    default:
      return task_by(chance);
  }
}

Act trouble_by(Chance& chance) {
  switch (chance.below(9)) {
    case 0:
      return {.after = 40ms, .ends_as = ReplyStop::failed};
    case 1:
      return {.ends_as = ReplyStop::refused};
    case 2:
      return {.throws = std::make_exception_ptr(std::runtime_error(std::string(kBugOfThePlay)))};
    case 3:
      return {.text = "late", .after = 3h, .is_deaf = chance.one_in(2), .streamed = "half of it"};
    case 4:
      return {.text = "as far as it", .ends_as = ReplyStop::output_limit};
    case 5:
      return {.ends_as = ReplyStop::context_exhausted};
    default:
      return {.http = server_faults()[chance.below(server_faults().size())].says};
  }
}

Act act_by(Chance chance, const Scene& scene) {
  if (chance.one_in(15)) return trouble_by(chance);
  Act act{.after = chance.one_in(12) ? 90s : 1ms * chance.below(400)};
  if (scene.step >= kMostSteps || (scene.step > 0 && chance.one_in(3))) {
    act.text = "found it";
    if (scene.depth > 0 && chance.one_in(2)) act.calls = {completion_by(chance)};
    return act;
  }
  if (scene.step > 1 && chance.one_in(12)) {
    act.calls = {call_of("Read", R"({"file_path":"a.txt"})")};  // the same again
    return act;
  }
  const std::uint64_t count = 1 + chance.below(3);
  for (std::uint64_t i = 0; i < count; ++i) act.calls.push_back(call_by(chance, scene));
  if (scene.depth == 0 && scene.step == 0) act.calls.push_back(task_by(chance));
  return act;
}

constexpr std::string_view kStepsSummedUp = "steps summed up: ";

// Unlike any other one, as its prompt is; and it knows how far the agent has come.
Act summary_by(Chance& chance, const Scene& scene) {
  if (chance.one_in(6)) return {.ends_as = ReplyStop::failed};
  if (chance.one_in(6)) return {.calls = {call_of("Read", R"({"file_path":"a.txt"})")}};
  return {
      .text = fmt::format("{}{}\nIt was about {:x}.", kStepsSummedUp, scene.step, chance.below(1ULL << 60)),
      .after = 1ms * chance.below(400)};
}

}  // namespace

ActingModel::Play chance_play(std::uint64_t seed) {
  return [seed](Scene scene) {
    if (const std::string before = scene.value_of(kStepsSummedUp); !before.empty())
      scene.step += std::stoi(before);
    Chance chance(seed, fmt::format("{} {} {} {}", scene.agent, scene.depth, scene.step, scene.heard));
    Act act = scene.is_told(wish_for_summary().text) ? summary_by(chance, scene) : act_by(chance, scene);
    act.usage = {.input = 1};  // each request was taken
    return act;
  };
}

std::vector<Profile> chance_profiles() {
  const std::vector<std::string> tools{"Read", "Glob", "Note", "Write", "Bash"};
  return {
      {.name = "worker", .tools = tools, .subagents = {"*"}, .kind = WorkKind::simple, .reentrant = true},
      {.name = "still",
       .tools = tools,
       .subagents = {"*"},
       .kind = WorkKind::simple,
       .on_ask = OnAsk::deny,
       .workspace = WorkspaceMode::read_only,
       .reentrant = true},
      {.name = "forgetful",
       .tools = tools,
       .subagents = {"*"},
       .kind = WorkKind::simple,
       .max_context_tokens = 16'000,
       .compact = true,
       .reentrant = true},
      {.name = "greedy",  // wants more than anybody may have
       .tools = tools,
       .subagents = {"*"},
       .kind = WorkKind::simple,
       .permissions = {.allow = {"Bash", "Write", "Delegate"}, .ask = {}, .deny = {}},
       .network = true,
       .reentrant = true},
      {.name = "formal", .tools = tools, .kind = WorkKind::simple, .returns = Returns::report},
  };
}

}  // namespace deputy
