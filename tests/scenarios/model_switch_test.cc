// The model that a child inherits is the one that produced the call, whatever the person chose meanwhile.
#include <gmock/gmock.h>

#include "support/dialogue_world.h"

namespace deputy {
namespace {

const ModelName kFirst("acting/test");
const ModelName kOther("acting/other");

Call hand_to(std::string_view agent) {
  return call_of("task", R"({"agent":")" + std::string(agent) + R"(","prompt":"p"})");
}

// Two calls of one run, between which the model changes; the session itself still has the first.
TEST(ModelSwitch, InMidRunEachCallHandsDownTheModelThatMadeIt) {
  DialogueWorld world([](const Scene& scene) -> Act {
    if (scene.depth > 0) return {.text = "found"};
    if (scene.step == 0) return {.calls = {hand_to("explore")}};
    if (scene.step == 1)
      return {.calls = {hand_to("planner"), call_of("Delegate", R"({"tasks":[{"label":"a","prompt":"p"}]})")},
              .model = kOther};
    return {.text = "over"};
  });
  ASSERT_TRUE(world.run());
  EXPECT_EQ(world.child("explore").model, kFirst);
  EXPECT_EQ(world.child("planner").model, kOther);
  EXPECT_EQ(world.child("a").model, kOther);
  EXPECT_EQ(world.sessions().front().model, kFirst);
}

// The first run makes a child with one model; the person chooses another, and the second run makes a child
// and goes on with the first one.
Act two_runs(const Scene& scene) {
  if (scene.depth > 0) return {.text = "found"};
  if (!scene.heard.contains("second")) {
    if (scene.step == 0) return {.calls = {hand_to("explore")}};
    return {.text = "one"};
  }
  if (scene.is_told("second")) {
    const std::string before = scene.value_of("Session: ");
    return {
        .calls = {hand_to("planner"), call_of("task", R"({"resume":")" + before + R"(","prompt":"go on"})")}};
  }
  return {.text = "two"};
}

// Of the root's reply that made the second run's calls.
std::string model_of_call(const SimWorld& world) {
  std::string model;
  for (const Event& event : world.memory->journal) {
    const auto* reply = std::get_if<ReplyReceived>(&event.fact);
    if (reply && reply->reply.message.calls.size() == 2) model = reply->reply.model.value;
  }
  return model;
}

TEST(ModelSwitchSimulation, AChildKeepsTheModelOfItsCallThroughASwitchAndACrashAtEveryRecord) {
  int crashes = 0;
  int switched = 0;
  int rounds = 0;
  for (int at = 1; at < 100; ++at) {
    SimWorld world;
    world.script = R"({"v":1,"sessions":[{"replies":[{"text":"never asked"}]}]})";
    const auto life = [&world](std::uint64_t seed, CrashPoint crash = {}) {
      return std::make_unique<Life>(world,
                                    Life::Options{.seed = seed, .crash = crash, .model = [](Loop& loop) {
                                                    return std::make_unique<ActingModel>(loop, two_runs);
                                                  }});
    };
    {
      const auto first = life(1);
      RootBrief root = first->brief("first");
      root.model = kFirst;
      ASSERT_TRUE(first->start(std::move(root)));
    }
    const SessionId root = world.sessions().front().id;
    bool is_dead = false;
    {
      const auto second = life(2, {.at_record = at});
      (void)second->say(root, {.text = "second", .model = kOther});
      is_dead = second->crashed();
    }
    if (is_dead) {
      ++crashes;
      const auto third = life(3);
      ASSERT_TRUE(third->resume(root)) << at;
    }
    ASSERT_TRUE(world.session_labelled("planner")) << at;
    EXPECT_EQ(world.session_labelled("planner")->model.value, model_of_call(world)) << at;
    switched += model_of_call(world) == kOther.value;
    ++rounds;
    EXPECT_EQ(world.session_labelled("explore")->model.value, kFirst.value) << at;
    for (const Event& event : world.memory->journal) {
      const auto* reply = std::get_if<ReplyReceived>(&event.fact);
      if (reply && event.run.session == world.session_labelled("explore")->id)
        EXPECT_EQ(reply->reply.model.value, kFirst.value) << at << ": also in its second run";
    }
    if (!is_dead) break;
  }
  EXPECT_GT(crashes, 3);
  EXPECT_EQ(switched, rounds) << "also where it died before that input's first reply";
}

TEST(ModelSwitch, ATreeIsNotTakenUpWhereItsModelIsNotAndGoesOnWhereItIs) {
  SimWorld world;
  world.script = R"({"v":1,"sessions":[{"replies":[{"text":"never asked"}]}]})";
  Life::Options with_model{.model = [](Loop& loop) {
    return std::make_unique<ActingModel>(loop, [](const Scene&) -> Act { return {.text = "done"}; });
  }};
  {
    auto dying = with_model;
    dying.crash = {.at_record = 1, .committed = true};
    Life first(world, dying);
    RootBrief root = first.brief("go");
    root.model = kFirst;
    ASSERT_FALSE(first.start(std::move(root)));
  }
  const SessionId root = world.sessions().front().id;
  const auto kept = world.memory->journal.size();
  {
    Life elsewhere(world, {.seed = 2});
    const auto refused = elsewhere.resume(root);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message,
                testing::HasSubstr("goes on with acting/test, which is not set up here"));
    EXPECT_THAT(refused.error().advice, testing::HasSubstr("deputy resume " + root.value));
  }
  EXPECT_EQ(world.memory->journal.size(), kept);
  with_model.seed = 3;
  Life again(world, with_model);
  const auto report = again.resume(root);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->body, "done");
}

}  // namespace
}  // namespace deputy
