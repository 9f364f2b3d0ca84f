// A session without a deadline is bound by what is heard of it, and one in line for a place by how long it
// stands there: so every wait but that for the person has an end.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <set>

#include "agent/next.h"
#include "support/dialogue_world.h"

namespace deputy {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using namespace std::chrono_literals;

constexpr auto kBeside = R"(,"run_in_background":true)";

Call task(std::string_view agent, std::string_view prompt, std::string_view more = "") {
  return call_of("task",
                 fmt::format(R"({{"agent":"{}","prompt":"{}","timeout":"none"{}}})", agent, prompt, more));
}
Call reader() { return call_of("Delegate", R"({"tasks":[{"label":"explore","prompt":"look"}]})"); }
Call spawn() { return call_of("spawn_subagent", R"({"agent":"explore","task":"look","timeout":"none"})"); }

// A child labelled explore that has no deadline, and what its parent does with it.
struct Way {
  std::string_view name;
  std::function<Act(const Scene&)> root;
};
void PrintTo(const Way& way, std::ostream* out) { *out << way.name; }

const std::vector<Way>& ways() {
  static const std::vector<Way> all{
      {"Task", [](const Scene&) { return Act{.calls = {task("explore", "look")}}; }},
      {"Delegate", [](const Scene&) { return Act{.calls = {reader()}}; }},
      {"Spawn", [](const Scene&) { return Act{.calls = {spawn()}}; }},
      {"Beside", [](const Scene&) { return Act{.calls = {task("explore", "look", kBeside)}}; }},
      {"BesideWithStatus",
       [](const Scene& scene) {
         if (scene.step == 0) return Act{.calls = {task("explore", "look", kBeside)}};
         return Act{.calls = {call_of("task_status", fmt::format(R"({{"id":"{}","wait_seconds":600}})",
                                                                 scene.value_of("id: ")))}};
       }},
  };
  return all;
}

class WithoutADeadlineSimulation : public testing::TestWithParam<Way> {
 protected:
  // The child thinks so long.
  void run(Duration thinks, std::uint64_t seed = 1, Duration heard_every = {}) {
    world_.emplace([=, root = GetParam().root](const Scene& scene) -> Act {
      if (scene.depth > 0) return {.text = "found it", .after = thinks, .heard_every = heard_every};
      const bool has_asked_for_status = scene.step > 1 || GetParam().name != "BesideWithStatus";
      if (scene.step > 0 && has_asked_for_status) return {.text = "over"};
      return root(scene);
    });
    world_->options.seed = seed;
    const auto report = world_->run();
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_EQ(report->status, Status::completed) << "its parent waited, and was not silent";
    EXPECT_FALSE(world_->child("explore").deadline);
    EXPECT_EQ(world_->terminal_records("explore"), 1);
    world_->expect_sound("");
  }

  std::optional<DialogueWorld> world_;
};

TEST_P(WithoutADeadlineSimulation, AChildMayBeSilentForAlmostADay) {
  in_many_orders([this](std::uint64_t seed) {
    run(kLongestSilence - 1s, seed);
    EXPECT_EQ(world_->child("explore").state, SessionState::completed);
  });
}

TEST_P(WithoutADeadlineSimulation, AChildThatIsSilentForLongerStalls) {
  in_many_orders([this](std::uint64_t seed) {
    run(kLongestSilence + 1s, seed);
    const Session child = world_->child("explore");
    EXPECT_EQ(child.state, SessionState::partial);
    EXPECT_EQ(child.reason, Reason::stalled);
    EXPECT_THAT(child.error, HasSubstr("nothing was heard of it for 24h"));
    EXPECT_EQ(*child.ended_at - *child.started_at, kLongestSilence);
    EXPECT_THAT(world_->heard_by_root(), HasSubstr("stalled")) << "its parent is told";
  });
}

TEST_P(WithoutADeadlineSimulation, AChildOfWhichAWordIsHeardGoesOn) {
  run(10 * kLongestSilence, 1, 20h);
  EXPECT_EQ(world_->child("explore").state, SessionState::completed);
}

// When a wait for it began, it carried the moment at which that would have been.
TEST_P(WithoutADeadlineSimulation, AWaitForAChildCarriesWhenItWouldStall) {
  in_many_orders([this](std::uint64_t seed) {
    run(1h, seed);
    const Session root = world_->sessions().front();
    int waits = 0;
    for (const Event& event : world_->world.memory->journal) {
      const auto* changed = std::get_if<StateChanged>(&event.fact);
      if (event.run.session != root.id || !changed || changed->state != SessionState::waiting) continue;
      waits += 1;
      EXPECT_EQ(changed->waits_for, world_->child("explore").id.value);
      ASSERT_TRUE(changed->until);
      EXPECT_GT(*changed->until, event.at);
      EXPECT_LE(*changed->until, event.at + kLongestSilence);
    }
    EXPECT_GT(waits, 0);
  });
}

INSTANTIATE_TEST_SUITE_P(Ways, WithoutADeadlineSimulation, testing::ValuesIn(ways()),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(Silence, BeginsAnewWithEveryRecord) {
  DialogueWorld world([](const Scene& scene) -> Act {
    if (scene.depth > 0 && scene.step < 3)
      return {.calls = {call_of("Note", fmt::format(R"({{"content":"{}"}})", scene.step))}, .after = 20h};
    if (scene.depth > 0) return {.text = "found it", .after = 20h};
    if (scene.step == 0) return {.calls = {task("explore", "look")}};
    return {.text = "over"};
  });
  ASSERT_TRUE(world.run());
  EXPECT_EQ(world.child("explore").state, SessionState::completed);
}

TEST(Silence, OfThePersonEndsNothing) {
  DialogueWorld world([](const Scene& scene) -> Act {
    if (scene.step == 0) return {.calls = {call_of("ask_user", R"({"question":"Which?"})")}};
    return {.text = "it is " + scene.news};
  });
  world.options.attendance = Attendance::person;
  world.before_answer = 10 * kLongestSilence;
  world.on_question = [](Runtime& runtime, const Question& question) {
    runtime.answer(question.id, {AnswerKind::text, "red"});
  };
  const auto report = world.run();
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->status, Status::completed);
  EXPECT_THAT(report->body, HasSubstr("red"));
  world.expect_sound("");
}

TEST(Silence, EndsOneThatDoesNotLetGoByForce) {
  DialogueWorld world([](const Scene& scene) -> Act {
    if (scene.depth > 0) return {.text = "late", .after = 2 * kLongestSilence, .is_deaf = true};
    if (scene.step == 0) return {.calls = {task("explore", "look")}};
    return {.text = "over"};
  });
  ASSERT_TRUE(world.run());
  const Session child = world.child("explore");
  EXPECT_EQ(child.reason, Reason::stalled);
  EXPECT_LT(*child.ended_at - *child.started_at, kLongestSilence + 1min);
  EXPECT_EQ(world.terminal_records("explore"), 1);
}

// What the children beside it are told is that their parent stopped: they were not silent.
TEST(SilenceSimulation, OfAParentStopsTheChildrenBesideItAsItsEndDoes) {
  in_many_orders([](std::uint64_t seed) {
    DialogueWorld world([](const Scene& scene) -> Act {
      if (scene.depth == 2)
        return {.calls = {call_of("Note", fmt::format(R"({{"content":"{}"}})", scene.step))}, .after = 5h};
      if (scene.depth == 1 && scene.step == 0) return {.calls = {task("explore", "look", kBeside)}};
      if (scene.depth == 1) return {.text = "late", .after = 2 * kLongestSilence};
      if (scene.step == 0) return {.calls = {task("middle", "go")}};
      return {.text = "over"};
    });
    world.options.seed = seed;
    world.options.profiles = {Profile{.name = "middle", .description = "m", .subagents = {"*"}}};
    ASSERT_TRUE(world.run());
    EXPECT_EQ(world.child("middle").state, SessionState::partial);
    EXPECT_EQ(world.child("middle").reason, Reason::stalled);
    EXPECT_EQ(world.child("explore").state, SessionState::cancelled);
    EXPECT_EQ(world.child("explore").reason, Reason::parent_stopped);
    EXPECT_THAT(world.child("explore").result, HasSubstr("3")) << "its notes are kept";
    world.expect_sound("");
  });
}

// A child holds the only place, heard of all the time; a second later another stands in line.
DialogueWorld line_of(Duration held, std::string more, std::uint64_t seed) {
  DialogueWorld world([=](const Scene& scene) -> Act {
    if (scene.agent == "planner") return {.text = "held", .after = held, .heard_every = 1h};
    if (scene.depth > 0) return {.text = "found it"};
    if (scene.step == 0) return {.calls = {task("planner", "hold", kBeside)}};
    if (scene.step == 1) return {.calls = {task("explore", "look", more)}, .after = 1s};
    return {.text = "over"};
  });
  world.options.limits.live_children = 1;
  world.options.seed = seed;
  return world;
}

TEST(InLineSimulation, AChildMayStandForADay) {
  in_many_orders([](std::uint64_t seed) {
    for (const auto* more : {"", kBeside}) {
      DialogueWorld world = line_of(kLongestSilence, more, seed);
      ASSERT_TRUE(world.run());
      EXPECT_EQ(world.child("explore").state, SessionState::completed);
      world.expect_sound("");
    }
  });
}

TEST(InLineSimulation, AChildThatStandsForLongerIsPartialAndItsParentIsToldWhy) {
  in_many_orders([](std::uint64_t seed) {
    for (const auto* more : {"", kBeside}) {
      DialogueWorld world = line_of(kLongestSilence + 2s, more, seed);
      ASSERT_TRUE(world.run());
      EXPECT_EQ(world.child("planner").state, SessionState::completed);
      const Session child = world.child("explore");
      EXPECT_EQ(child.state, SessionState::partial);
      EXPECT_EQ(child.reason, Reason::stalled);
      EXPECT_EQ(world.terminal_records("explore"), 1);
      EXPECT_THAT(world.heard_by_root(), HasSubstr("no place to run came free for it in 24h"));
      EXPECT_EQ(*child.ended_at - child.created_at, kLongestSilence);
      EXPECT_THAT(world.world.disk.files()["/home/errors.jsonl"], HasSubstr(child.id.value));
      world.expect_sound("");
    }
  });
}

// Every way to wait there is: seen, and with an end unless it is for the person.
TEST(WaitsSimulation, OfEveryWayHaveAnEndUnlessTheyAreForThePerson) {
  std::set<std::string> seen;
  in_many_orders([&seen](std::uint64_t seed) {
    DialogueWorld world([](const Scene& scene) -> Act {
      if (scene.depth > 0 && scene.heard.contains("ask") && scene.step == 0)
        return {.calls = {call_of("ask_parent", R"({"question":"Which?"})")}};
      if (scene.depth > 0) return {.text = "found it", .after = 30s};
      switch (scene.step) {
        case 0:
          return {.calls = {task("explore", "look")}};
        case 1:
          return {.calls = {reader()}};
        case 2:
          return {.calls = {call_of("spawn_subagent", R"({"agent":"explore","task":"ask"})")}};
        case 3:
          return {.calls = {call_of("answer_subagent", fmt::format(R"({{"question_id":"{}","answer":"red"}})",
                                                                   scene.value_of("question_id: ")))},
                  .after = 1s};
        case 4:
          return {.calls = {task("explore", "look", kBeside), task("planner", "look", kBeside)}};
        case 5:
          return {.calls = {call_of("task_status", fmt::format(R"({{"id":"{}","wait_seconds":5}})",
                                                               scene.value_of("background.\nid: ")))}};
        case 6:
          return {.calls = {call_of("ask_user", R"({"question":"Enough?"})")}};
        default:
          return {.text = "over"};
      }
    });
    world.options.seed = seed;
    world.options.attendance = Attendance::person;
    world.options.limits.live_children = 1;
    world.rules = Rules({{Decision::allow, "spawn_subagent", ""},
                         {Decision::allow, "task", ""},
                         {Decision::allow, "Delegate", ""}});
    world.on_question = [](Runtime& runtime, const Question& question) {
      if (question.kind != QuestionKind::to_parent) runtime.answer(question.id, {AnswerKind::text, "yes"});
    };
    world.on_event = [&](Runtime&, const Event& event) {
      const Session& session = world.world.memory->sessions.at(event.run.session);
      if (session.state != SessionState::waiting || !session.wait) return;
      const std::string& owner = session.wait->owner;
      const bool has_none = owner == kPerson;
      EXPECT_EQ(session.wait->until.has_value(), !has_none) << session.label << " waits for " << owner;
      if (!is_session_id(owner)) {
        seen.insert(owner);
      } else if (session.parent == SessionId(owner)) {
        seen.insert("parent");
      } else {
        const Session& child = world.world.memory->sessions.at(SessionId(owner));
        seen.insert(fmt::format("{} in step {}", child.agent, session.steps));
      }
    };
    const auto report = world.run();
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_EQ(report->status, Status::completed);
    world.expect_sound("");
  });
  for (const std::string_view way :
       {kPerson, kPlace, std::string_view("parent"), std::string_view("explore in step 1"),
        std::string_view("reader in step 2"), std::string_view("explore in step 3"),
        std::string_view("explore in step 4"), std::string_view("explore in step 6")})
    EXPECT_THAT(seen, Contains(std::string(way))) << "a way that was not seen proves nothing";
}

}  // namespace
}  // namespace deputy
