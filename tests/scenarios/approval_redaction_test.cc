// What a person is asked before children are spawned holds no secret, whatever a model wrote into the goal.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "store/redacting_store.h"
#include "support/sim_world.h"

namespace deputy {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::string_view kSecret = "correct-horse-battery";

std::string asked_for(std::string_view tool, std::string_view arguments) {
  Redactor redactor;
  redactor.hide(kSecret);
  SimWorld world;
  world.script = fmt::format(
      R"({{"v":1,"sessions":[{{"match":{{"depth":0}},"replies":[{{"calls":[{{"name":"{}","arguments":{}}}]}},{{"text":"over"}}]}},{{"replies":[{{"text":"done"}}]}}]}})",
      tool, arguments);
  Life::Options options;
  options.store = [&](Loop& loop) {
    return std::make_unique<RedactingStore>(std::make_unique<MemoryStore>(loop, world.memory), redactor);
  };
  Life life(world, options);
  std::string asked;
  life.runtime().subscribe([&](const Event& event, const EventOrigin&) {
    if (const auto* question = std::get_if<QuestionAsked>(&event.fact)) asked = question->question.text;
  });
  EXPECT_TRUE(life.start(life.brief("go")));
  return asked;
}

TEST(AnApproval, OfChildrenIsAskedForWithoutSecrets) {
  const auto with_secret = [](std::string_view arguments) {
    return fmt::format(fmt::runtime(arguments), kSecret);
  };
  for (const auto& [tool, arguments] :
       {std::pair("Delegate", R"({{"tasks":[{{"label":"look","prompt":"log in with {} first"}}]}})"),
        std::pair("task", R"({{"agent":"explore","prompt":"log in with {} first"}})"),
        std::pair("spawn_subagent", R"({{"agent":"explore","task":"log in with {} first"}})")}) {
    EXPECT_THAT(asked_for(tool, with_secret(arguments)),
                AllOf(HasSubstr("log in with [redacted] first"), Not(HasSubstr(std::string(kSecret)))))
        << tool;
  }
}

}  // namespace
}  // namespace deputy
