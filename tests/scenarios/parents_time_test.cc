// A child whose parent's time is up, not its own.
#include <gmock/gmock.h>

#include "support/dialogue_world.h"

namespace deputy {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using namespace std::chrono_literals;

TEST(AParentsTime, ThatIsUpStopsItsChildWithWhatThereIsAndWithoutALastStep) {
  DialogueWorld world([](const Scene& scene) -> Act {
    if (scene.depth == 0 && scene.step == 0)
      return {.calls = {call_of("task", R"({"agent":"middle","prompt":"go","timeout":60})")}};
    if (scene.depth == 0) return {.text = "over"};
    if (scene.agent == "planner") return {.text = "never said", .after = 20min, .streamed = "half a plan"};
    if (scene.step == 0) return {.calls = {call_of("task", R"({"agent":"planner","prompt":"plan"})")}};
    return {.text = "I was told: " + scene.news};
  });
  world.options.profiles = {Profile{.name = "middle", .tools = {"Note"}, .subagents = {"*"}}};
  ASSERT_TRUE(world.run());
  const Session planner = world.child("planner");
  EXPECT_EQ(planner.state, SessionState::partial);
  EXPECT_EQ(planner.reason, Reason::timeout);
  EXPECT_EQ(planner.result, "half a plan");
  EXPECT_THAT(world.world.transcript("planner"), Not(HasSubstr("your last step")));
  EXPECT_THAT(world.results_of("task").at(0),
              HasSubstr("the time of its parent, or of the whole tree, was up"));
  const Session middle = world.child("middle");
  EXPECT_EQ(middle.state, SessionState::partial);
  EXPECT_EQ(middle.reason, Reason::timeout) << "its own time";
  EXPECT_THAT(middle.result, HasSubstr("your last step"));
}

TEST(AParentsTime, ThatIsUpInAChildsOwnLastStepIsNotTheChilds) {
  DialogueWorld world([](const Scene& scene) -> Act {
    if (scene.depth == 0 && scene.step == 0)
      return {.calls = {call_of("task", R"({"agent":"middle","prompt":"go","timeout":80})")}};
    if (scene.depth == 0) return {.text = "over"};
    if (scene.agent == "planner") return {.text = "never said", .after = 20min, .streamed = "half a plan"};
    if (scene.step == 0)
      return {.calls = {call_of("task", R"({"agent":"planner","prompt":"plan","timeout":60})")}};
    return {.text = "enough"};
  });
  world.options.profiles = {Profile{.name = "middle", .tools = {"Note"}, .subagents = {"*"}}};
  ASSERT_TRUE(world.run());
  EXPECT_EQ(world.child("planner").state, SessionState::partial);
  EXPECT_EQ(world.child("planner").reason, Reason::timeout);
  EXPECT_THAT(world.results_of("task").at(0), HasSubstr("its time was up"));
}

}  // namespace
}  // namespace deputy
