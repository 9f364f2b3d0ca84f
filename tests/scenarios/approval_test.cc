// What a person is asked before children are spawned: the models they will run on, and what those may cost.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "support/acting_model.h"
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
  std::string asked_for(std::string_view tool, std::string_view arguments) {
    world = {};
    world.script = fmt::format(
        R"({{"v":1,"sessions":[{{"match":{{}},"replies":[{{"calls":[{{"name":"{}","arguments":{}}}]}},{{"text":"over"}}]}}]}})",
        tool, arguments);
    Life::Options options;
    options.attendance = Attendance::person;
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
    EXPECT_TRUE(life.start(life.brief("go")));
    return asked;
  }

  static constexpr auto kCost = "about $0.63 at most";  // 200,000 tokens in, 2,000 out

  SimWorld world;
  Bank bank;
};

TEST_F(TheApproval, OfOneChildNamesAndPricesTheModelThatWillRun) {
  for (const auto& [tool, arguments] : {std::pair("task", R"({"agent":"dear","prompt":"look"})"),
                                        std::pair("task", R"({"subagent_type":"dear","prompt":"look"})"),
                                        std::pair("spawn_subagent", R"({"agent":"dear","task":"look"})")}) {
    EXPECT_THAT(asked_for(tool, arguments),
                AllOf(HasSubstr("Spawn 1 subagent: [dear] look — model priced/x, "), HasSubstr(kCost),
                      Not(HasSubstr("scripted"))))
        << tool;
  }
  EXPECT_THAT(asked_for("task", R"({"agent":"explore","prompt":"look"})"),
              HasSubstr("model scripted/test, no cost"))
      << "control: an agent without a model of its own";
}

TEST_F(TheApproval, OfABatchNamesEveryModelOnceAndPricesThemAll) {
  EXPECT_THAT(
      asked_for(
          "Delegate",
          R"({"tasks":[{"label":"a","prompt":"p"},{"label":"b","prompt":"p","model":"priced/x","max_output_tokens":2000},{"label":"c","prompt":"p"}]})"),
      AllOf(HasSubstr("model scripted/test, priced/x, about"), HasSubstr(kCost)));
}

TEST_F(TheApproval, KnowsTheGeneralAgentByTheNameThatOtherProgramsGiveIt) {
  for (const auto& [tool, arguments] :
       {std::pair("task", R"({"subagent_type":"general-purpose","prompt":"look"})"),
        std::pair("spawn_subagent", R"({"agent":"general-purpose","task":"look"})")})
    EXPECT_THAT(asked_for(tool, arguments), HasSubstr("model scripted/test, no cost")) << tool;
}

TEST_F(TheApproval, OfWhatWillBeRefusedIsToldAsItsCallWantsIt) {
  EXPECT_THAT(asked_for("task", R"({"agent":"nobody","prompt":"look"})"), HasSubstr("model scripted/test"));
}

}  // namespace
}  // namespace deputy
