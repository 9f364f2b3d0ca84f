// What a restart may do with a call is said by every tool that a model can be offered, those of delegation
// included. A tool that is not in the list fails here until somebody has decided what it is.
#include <gmock/gmock.h>

#include <map>
#include <memory>
#include <set>
#include <string>

#include "delegation/ask_tool.h"
#include "delegation/completion_tool.h"
#include "delegation/delegate_tool.h"
#include "delegation/question_desk.h"
#include "delegation/spawn_tool.h"
#include "delegation/task_tool.h"
#include "delegation/tree.h"
#include "support/acting_model.h"
#include "support/sim_world.h"
#include "tools/catalog.h"

namespace deputy {
namespace {

const std::map<std::string, Effect> kEffects{{"Read", Effect::pure},
                                             {"Grep", Effect::pure},
                                             {"Glob", Effect::pure},
                                             {"List", Effect::pure},
                                             {"Todo", Effect::pure},
                                             {"task_status", Effect::pure},
                                             {"task_completion", Effect::pure},
                                             {"WebFetch", Effect::repeatable},
                                             {"WebSearch", Effect::repeatable},
                                             {"Edit", Effect::keyed},
                                             {"Write", Effect::keyed},
                                             {"NotebookEdit", Effect::keyed},
                                             {"Note", Effect::keyed},
                                             {"task_cancel", Effect::keyed},
                                             {"task_message", Effect::keyed},
                                             {"Delegate", Effect::keyed},
                                             {"task", Effect::keyed},
                                             {"spawn_subagent", Effect::keyed},
                                             {"answer_subagent", Effect::keyed},
                                             {"ask_parent", Effect::keyed},
                                             {"ask_user", Effect::keyed},
                                             {"Bash", Effect::once}};

// A tree that nothing runs in, for the tools that belong to one.
struct IdleTree {
  SimLoop loop{1};
  InlinePool pool;
  ManualClock clock;
  MemoryDisk disk{clock};
  SimProcesses processes{loop};
  SimNetwork network{loop};
  SeededRandom random{1};
  MemoryStore store{loop, std::make_shared<MemoryStore::Memory>()};
  Models models;
  Profiles profiles = Profiles::built_in();
  QuestionDesk desk{Attendance::nobody};
  Tree tree{{.loop = loop,
             .store = store,
             .pool = pool,
             .disk = disk,
             .processes = processes,
             .random = random,
             .models = models,
             .profiles = profiles,
             .asker = desk},
            {}};
};

TEST(EffectClasses, AreThoseOfTheList) {
  IdleTree idle;
  BackgroundCommands background(idle.loop);
  const ToolServices services{.background = background,
                              .network = &idle.network,
                              .settings = {.search = SearchSettings{}, .bash = {}}};
  auto tools = builtin_tools();
  for (auto& tool : command_tools(services)) tools.push_back(std::move(tool));
  for (auto& tool : web_tools(services, Decision::ask)) tools.push_back(std::move(tool));
  auto completion = CompletionTool::make("");
  ASSERT_TRUE(completion) << completion.error().message;
  tools.push_back(*std::move(completion));
  tools.push_back(std::make_shared<DelegateTool>(idle.tree));
  tools.push_back(std::make_shared<TaskTool>(idle.tree, std::vector<const Profile*>{}));
  tools.push_back(std::make_shared<SpawnTool>(idle.tree, std::vector<const Profile*>{}));
  tools.push_back(std::make_shared<AnswerTool>(idle.tree));
  tools.push_back(std::make_shared<AskParentTool>(idle.tree));
  tools.push_back(std::make_shared<AskUserTool>(AskUserTool::Name::ask_user));
  std::map<std::string, Effect> effects;
  for (const auto& tool : tools) effects.emplace(tool->text().name, tool->effect());
  EXPECT_EQ(effects, kEffects);
  EXPECT_EQ(AskUserTool(AskUserTool::Name::ask_parent).effect(), kEffects.at("ask_parent"));
}

// Keeps the names of the tools that it is offered.
class Offered final : public Provider {
 public:
  Offered(Loop& loop, std::set<std::string>& names) : inner_(loop, play), names_(names) {}
  std::string_view name() const override { return inner_.name(); }
  std::string encode(const Message& message) const override { return inner_.encode(message); }
  std::int64_t window(const ModelName& model) const override { return inner_.window(model); }
  std::optional<Price> price(const ModelName& model) const override { return inner_.price(model); }
  Task<Reply> ask(Request request, DeltaSink deltas, StopToken stop) override {
    for (const auto& tool : request.prefix->tools) names_.insert(tool.name);
    co_return co_await inner_.ask(std::move(request), std::move(deltas), std::move(stop));
  }

 private:
  static Act play(const Scene& scene) {
    if (scene.depth > 0 || scene.step > 0) return {.text = "over"};
    return {.calls = {call_of("task", R"({"agent":"general","prompt":"look"})")}};
  }

  ActingModel inner_;
  std::set<std::string>& names_;
};

TEST(EffectClasses, AreListedForAllThatModelsAreOffered) {
  SimWorld world;
  world.script = R"({"v":1,"sessions":[{"replies":[{"text":"never asked"}]}]})";
  std::set<std::string> offered;
  Life::Options options{.has_web = true};
  options.model = [&offered](Loop& loop) { return std::make_unique<Offered>(loop, offered); };
  Life life(world, std::move(options));
  RootBrief root = life.brief("go");
  root.model = ModelName("acting/test");
  ASSERT_TRUE(life.start(std::move(root)));
  std::set<std::string> listed;
  for (const auto& [name, effect] : kEffects) listed.insert(name);
  EXPECT_EQ(offered, listed) << "to the root and to a child that does anything";
}

}  // namespace
}  // namespace deputy
