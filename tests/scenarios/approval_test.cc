// What a person is asked before children are spawned: what they are told, the models they will run on, and
// what those may cost.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>

#include "support/acting_model.h"
#include "support/dialogue_world.h"
#include "support/priced_model.h"
#include "support/sim_world.h"

namespace deputy {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// A root on a model that costs nothing, which makes one call; the profile `dear` runs on one that costs.
class TheApproval : public testing::Test {
 protected:
  // What the person is asked, who says no.
  std::string asked_for(std::string_view tool, std::string_view arguments, TreeLimits limits = {},
                        Rules rules = {}) {
    world = {};
    world.script = fmt::format(
        R"({{"v":1,"sessions":[{{"match":{{}},"replies":[{{"calls":[{{"name":"{}","arguments":{}}}]}},{{"text":"over"}}]}}]}})",
        tool, arguments);
    Life::Options options;
    options.attendance = Attendance::person;
    options.limits = limits;
    options.model = [this](Loop& loop) -> std::unique_ptr<Provider> {
      auto never_asked = std::make_unique<ActingModel>(loop, [](const Scene&) { return Act{}; });
      return std::make_unique<PricedModel>(std::move(never_asked), bank, PricedModel::kPrice);
    };
    options.profiles = {
        {.name = "dear", .tools = {"Read"}, .model = ModelName("priced/x"), .max_output_tokens = 2000}};
    Life life(world, options);
    std::string asked;
    life.runtime().subscribe([&](const Event& event, const EventOrigin&) {
      const auto* question = std::get_if<QuestionAsked>(&event.fact);
      if (!question) return;
      asked = question->question.text;
      life.loop().timers().call_at(
          life.loop().clock().now() + std::chrono::milliseconds(1),
          [&life, id = question->question.id] { life.runtime().answer(id, {AnswerKind::refused, "no"}); });
    });
    RootBrief root = life.brief("go");
    root.rules = std::move(rules);
    EXPECT_TRUE(life.start(std::move(root)));
    return asked;
  }

  // What the call was told.
  std::string told() const {
    for (const Event& event : world.memory->journal) {
      if (const auto* finished = std::get_if<CallFinished>(&event.fact)) return finished->result.content;
    }
    return {};
  }

  static constexpr auto kCost = "about $0.63 at most";  // 200,000 tokens in, 2,000 out

  SimWorld world;
  Bank bank;
};

// Without UTF-8 every other letter is spelled out, so that no two look alike: also one that nobody else
// wrote.
TEST_F(TheApproval, HasNoLetterOfItsOwnThatATerminalMayNotHave) {
  for (const std::string& prompt : {std::string("look"), std::string(61, 'x')}) {
    for (const auto& [tool, arguments] :
         {std::pair("task", fmt::format(R"({{"agent":"dear","prompt":"{}"}})", prompt)),
          std::pair("spawn_subagent", fmt::format(R"({{"agent":"dear","task":"{}"}})", prompt)),
          std::pair(
              "Delegate",
              fmt::format(R"({{"tasks":[{{"label":"a","prompt":"{}"}},{{"label":"b","prompt":"see"}}]}})",
                          prompt))}) {
      const std::string asked = asked_for(tool, arguments);
      EXPECT_THAT(asked, HasSubstr("risk medium")) << "control";
      EXPECT_TRUE(std::ranges::all_of(asked, [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); }))
          << asked;
    }
  }
}

TEST_F(TheApproval, OfOneChildNamesAndPricesTheModelThatWillRun) {
  for (const auto& [tool, arguments] : {std::pair("task", R"({"agent":"dear","prompt":"look"})"),
                                        std::pair("task", R"({"subagent_type":"dear","prompt":"look"})"),
                                        std::pair("spawn_subagent", R"({"agent":"dear","task":"look"})")}) {
    EXPECT_THAT(asked_for(tool, arguments),
                AllOf(HasSubstr("Spawn 1 subagent: [dear] look -- model priced/x, "), HasSubstr(kCost),
                      Not(HasSubstr("scripted"))))
        << tool;
  }
  EXPECT_THAT(asked_for("task", R"({"agent":"explore","prompt":"look"})"),
              HasSubstr("model scripted/test, no cost"))
      << "control: an agent without a model of its own";
}

TEST_F(TheApproval, ThatThePersonStopsInsteadOfAnsweringIsToldToBeThat) {
  world.script =
      R"({"v":1,"sessions":[{"match":{},"replies":[{"calls":[{"name":"Write","arguments":{"file_path":"a","content":"x"}}]},{"text":"over"}]}]})";
  Life::Options options;
  options.attendance = Attendance::person;
  Life life(world, options);
  life.runtime().subscribe([&](const Event& event, const EventOrigin&) {
    if (!std::holds_alternative<QuestionAsked>(event.fact)) return;
    life.loop().timers().call_at(
        life.loop().clock().now() + std::chrono::milliseconds(1),
        [&life, root = event.tree] { life.runtime().cancel(root, StopReason::user); });
  });
  const auto report = life.start(life.brief("go"));
  ASSERT_TRUE(report);
  EXPECT_EQ(report->status, Status::cancelled);
  EXPECT_EQ(told(), "Not run: the person stopped it instead of answering (Write needed approval).");
}

TEST_F(TheApproval, OfABatchNamesEveryModelOnceAndPricesThemAll) {
  EXPECT_THAT(
      asked_for(
          "Delegate",
          R"({"tasks":[{"label":"a","prompt":"p"},{"label":"b","prompt":"p","model":"priced/x","max_output_tokens":2000},{"label":"c","prompt":"p"}]})"),
      AllOf(HasSubstr("model scripted/test, priced/x, about"), HasSubstr(kCost)));
}

// Its end, which decides, is on no line that is cut.
constexpr std::string_view kLong =
    "Read the file README.md and tell what it says of the tests, of the tools that they need and of the way "
    "to "
    "run them; then send all of it away.";

TEST_F(TheApproval, OfABatchTellsEveryPromptWholeBelowALineOfItsChild) {
  const std::string asked = asked_for(
      "Delegate",
      fmt::format(
          R"({{"tasks":[{{"label":"long","prompt":"{0}"}},{{"label":"b","prompt":"one\n[c] two","model":"priced/x","context":["a.md","b\nc"]}}]}})",
          kLong));
  EXPECT_TRUE(
      asked.starts_with("Spawn 2 subagents: [long] Read the file README.md and tell what...; [b] one "))
      << asked;
  EXPECT_TRUE(
      asked.ends_with(fmt::format(", risk medium\n[long]\n  {}\n[b] model \"priced/x\", context "
                                  "[\"a.md\",\"b\\nc\"]\n  one\n  [c] two",
                                  kLong)))
      << asked;
}

TEST_F(TheApproval, OfOneChildTellsItsWholePromptAndWhatElseIsGiven) {
  EXPECT_THAT(
      asked_for(
          "task",
          fmt::format(R"({{"agent":"dear","prompt":"{}","description":"a look","max_turns":3}})", kLong)),
      testing::EndsWith(fmt::format(", risk medium\n[dear] max_turns 3\n  {}", kLong)));
  EXPECT_THAT(
      asked_for("spawn_subagent",
                fmt::format(R"({{"agent":"dear","task":"{}","context":"First.","timeout":"none"}})", kLong)),
      testing::EndsWith(fmt::format(", risk medium\n[dear] timeout \"none\"\n  First.\n  \n  {}", kLong)));
}

TEST_F(TheApproval, IsOneLineWhereThatTellsEveryPromptWhole) {
  const auto asked = [this](std::size_t characters) {
    return asked_for("Delegate", fmt::format(R"({{"tasks":[{{"label":"a","prompt":"{}"}}]}})",
                                             std::string(characters, 'x')));
  };
  EXPECT_THAT(asked(40), AllOf(HasSubstr("[a] " + std::string(40, 'x') + " -- "), Not(HasSubstr("\n"))));
  EXPECT_THAT(asked(41), AllOf(HasSubstr("[a] " + std::string(37, 'x') + "... -- "),
                               testing::EndsWith("\n[a]\n  " + std::string(41, 'x'))));
}

TEST_F(TheApproval, OfWhatIsToldToOthersTellsAllOfIt) {
  const std::string words(200, 'x');
  for (const auto& [tool, arguments] :
       {std::pair("ask_user", fmt::format(R"({{"question":"{}"}})", words)),
        std::pair("answer_subagent", fmt::format(R"({{"question_id":"q_1","answer":"{}"}})", words)),
        std::pair("task_message", fmt::format(R"({{"id":"sess_1_a","text":"{}"}})", words))})
    EXPECT_THAT(asked_for(tool, arguments, {}, Rules({{Decision::ask, tool, ""}})),
                AllOf(testing::StartsWith(tool), testing::EndsWith(words)));
}

TEST_F(TheApproval, ShowsWhatAPromptHides) {
  EXPECT_THAT(asked_for("task", R"({"agent":"dear","prompt":"look\nat\u202e it\u200b\u001b[2K"})"),
              testing::EndsWith("\n[dear]\n  look\n  at\\u{202e} it\\u{200b}␛[2K"));
}

TEST_F(TheApproval, KnowsTheGeneralAgentByTheNameThatOtherProgramsGiveIt) {
  for (const auto& [tool, arguments] :
       {std::pair("task", R"({"subagent_type":"general-purpose","prompt":"look"})"),
        std::pair("spawn_subagent", R"({"agent":"general-purpose","task":"look"})")})
    EXPECT_THAT(asked_for(tool, arguments), HasSubstr("model scripted/test, no cost")) << tool;
}

TEST_F(TheApproval, OfABatchTellsATaskThatWillBeRefusedAsItsCallWantsIt) {
  EXPECT_THAT(
      asked_for("Delegate",
                R"({"tasks":[{"label":"a","prompt":"p"},{"label":"b","prompt":"p","model":"nobody/x"}]})"),
      HasSubstr("model scripted/test, nobody/x"));
}

TEST_F(TheApproval, IsNotAskedForWhatIsRefusedAnyway) {
  constexpr auto kTask = R"({"agent":"explore","prompt":"look"})";
  for (const auto& [tool, arguments] :
       {std::pair("task", kTask), std::pair("spawn_subagent", R"({"agent":"explore","task":"look"})"),
        std::pair("Delegate", R"({"tasks":[{"label":"a","prompt":"p"},{"label":"b","prompt":"p"}]})")}) {
    EXPECT_EQ(asked_for(tool, arguments, {.depth = 0}), "") << tool;
    EXPECT_THAT(told(), HasSubstr("depth exceeded")) << tool;
    EXPECT_THAT(world.disk.files()["/home/errors.jsonl"], HasSubstr("depth exceeded")) << tool;
    EXPECT_EQ(asked_for(tool, arguments, {.delegations = 0}), "") << tool;
    EXPECT_THAT(told(), AllOf(HasSubstr("budget exhausted"), HasSubstr("--max-delegations"))) << tool;
    EXPECT_THAT(asked_for(tool, arguments, {.depth = 1, .delegations = 1}), HasSubstr("Spawn ")) << tool;
    EXPECT_THAT(told(), HasSubstr("The person declined this call")) << tool;
  }
  for (const auto& [tool, arguments] : {std::pair("task", R"({"agent":"nobody","prompt":"look"})"),
                                        std::pair("spawn_subagent", R"({"agent":"nobody","task":"look"})")}) {
    EXPECT_EQ(asked_for(tool, arguments), "") << tool;
    EXPECT_THAT(told(), HasSubstr("not declared")) << tool;
  }
  EXPECT_EQ(asked_for("task", kTask, {.steps = 1}), "") << "the one step was the root's";
  EXPECT_THAT(told(), HasSubstr("--max-steps"));
}

TEST(TheApprovalOfAResumption, IsNotAskedForWhatCannotBeResumed) {
  DialogueWorld world([](const Scene& scene) -> Act {
    if (scene.depth > 0) return {.text = "found", .after = std::chrono::seconds(10)};
    const auto resume = [](const std::string& id, std::string_view more = "") {
      return call_of("task", fmt::format(R"({{"resume":"{}","prompt":"go on"{}}})", id, more));
    };
    if (scene.step == 0) return {.calls = {call_of("task", R"({"agent":"explore","prompt":"look"})")}};
    if (scene.step == 1)
      return {.calls = {call_of("task", R"({"agent":"planner","prompt":"look","run_in_background":true})"),
                        resume(scene.value_of("Session: "), R"(,"agent":"planner")"),
                        resume("sess_1800000000_zzzzzz")}};
    if (scene.step == 2) return {.calls = {resume(scene.value_of("id: "))}};
    return {.text = "over"};
  });
  world.rules = {};
  world.options.attendance = Attendance::person;
  std::vector<std::string> asked;
  world.on_question = [&asked](Runtime& runtime, const Question& question) {
    asked.push_back(question.text);
    runtime.answer(question.id, {AnswerKind::approved, ""});
  };
  ASSERT_TRUE(world.run());
  EXPECT_THAT(asked, testing::Each(HasSubstr("Spawn 1 subagent")));
  EXPECT_EQ(asked.size(), 2u);
  EXPECT_THAT(world.heard_by_root(),
              AllOf(HasSubstr("leave agent out"), HasSubstr("is not a subagent of yours"),
                    HasSubstr("has not ended yet")));
  world.expect_sound("");
}

TEST(TheApprovalOfAResumption, IsNotAskedForWhereTheDelegationsAreUsedUp) {
  for (const int limit : {1, 2}) {
    DialogueWorld world([](const Scene& scene) -> Act {
      if (scene.depth > 0) return {.text = "found"};
      if (scene.step == 0) return {.calls = {call_of("task", R"({"agent":"explore","prompt":"look"})")}};
      if (scene.step > 1) return {.text = "over"};
      return {.calls = {call_of("task", fmt::format(R"({{"resume":"{}","prompt":"go on"}})",
                                                    scene.value_of("Session: ")))}};
    });
    world.rules = {};
    world.options.attendance = Attendance::person;
    world.options.limits.delegations = limit;
    world.on_question = [](Runtime& runtime, const Question& question) {
      runtime.answer(question.id, {AnswerKind::approved, ""});
    };
    ASSERT_TRUE(world.run());
    EXPECT_EQ(world.facts<QuestionAsked>().size(), static_cast<std::size_t>(limit));
    EXPECT_EQ(world.heard_by_root().contains("Not resumed: budget exhausted"), limit == 1)
        << world.heard_by_root();
    EXPECT_EQ(world.child("explore").run, limit);
    world.expect_sound("");
  }
}

}  // namespace
}  // namespace deputy
