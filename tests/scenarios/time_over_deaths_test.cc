// What is left of the time of each session where the process dies, wherever it does.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/dialogue_world.h"

namespace deputy {
namespace {

using namespace std::chrono_literals;

Call task(std::string_view agent) {
  return call_of("task", fmt::format(R"({{"agent":"{}","prompt":"go","timeout":300}})", agent));
}

// The writer asks the person before it writes; the reader goes on meanwhile, for longer than the writer and
// the tree may take.
Act asks_beside_a_reader(const Scene& scene) {
  if (scene.depth == 0 && scene.step == 0)
    return {
        .calls = {task("general"), call_of("task", R"({"agent":"explore","prompt":"go","timeout":1800})")}};
  if (scene.agent == "general" && scene.step == 0)
    return {.calls = {call_of("Write", R"({"file_path":"b.txt","content":"x"})")}};
  if (scene.agent == "explore" && scene.step < 4)
    return {.calls = {call_of("Read", R"({"file_path":"a.txt"})")}, .after = 2min};
  return {.text = "done", .after = 1min};
}

// By then the reader is done.
void answer_later(Life& life, const Event& event) {
  const auto* asked = std::get_if<QuestionAsked>(&event.fact);
  if (!asked) return;
  life.loop().timers().call_at(life.loop().clock().now() + 10min, [&life, id = asked->question.id] {
    life.runtime().answer(id, {AnswerKind::approved, ""});
  });
}

// Another process goes on an hour later.
Result<Report> live(SimWorld& world, CrashPoint dies) {
  const auto sessions = world.sessions();
  Life life(world,
            {.seed = 1 + sessions.size(),
             .crash = dies,
             .limits = {.time = 5min},
             .attendance = Attendance::person,
             .model = [](Loop& loop) { return std::make_unique<ActingModel>(loop, asks_beside_a_reader); }});
  for (const Event& event : world.memory->journal) answer_later(life, event);
  life.runtime().subscribe([&life](const Event& event, const EventOrigin&) { answer_later(life, event); });
  if (!sessions.empty()) {
    life.loop().manual_clock().jump_wall(1h);
    return life.resume(sessions.front().id);
  }
  RootBrief root = life.brief("go");
  root.model = ModelName("acting/test");
  root.rules = Rules({{Decision::allow, "task", ""}});
  return life.start(std::move(root));
}

TEST(TimeOverDeaths, OfWhoAsksAPersonAndThoseAboveStoodStillSinceTheQuestionWhateverOthersRecorded) {
  int deaths = 0;
  for (bool dies = true; dies && !HasFailure();) {
    SCOPED_TRACE(fmt::format("record {}", ++deaths));
    SimWorld world;
    world.script = R"({"v":1,"sessions":[{"replies":[{"text":"never asked"}]}]})";
    world.write_file("a.txt", "one\n");
    auto report = live(world, {.at_record = deaths});
    dies = !report;
    if (dies) report = live(world, {});
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_EQ(report->status, Status::completed) << report->body;
    EXPECT_EQ(world.session_labelled("general")->state, SessionState::completed);
  }
  EXPECT_GT(deaths, 5);
}

TEST(TimeOverDeaths, OfAChildStandsStillOverALifeThatDidNotGoOnWithIt) {
  constexpr int kRecords = 8;
  int deaths = 0;
  for (int first = 2; first <= kRecords && !HasFailure(); ++first) {
    for (int second = 1; second <= kRecords && !HasFailure(); ++second) {
      SCOPED_TRACE(fmt::format("records {} and {}", first, second));
      DialogueWorld world([](const Scene& scene) -> Act {
        if (scene.depth > 0 && scene.step == 0)
          return {.calls = {call_of("Read", R"({"file_path":"a.txt"})")}, .after = 2min};
        if (scene.depth > 0) return {.text = "found", .after = 2min};
        if (scene.step == 0) return {.calls = {task("explore")}};
        return {.text = "over"};
      });
      world.options.crash.at_record = first;
      if (world.run()) continue;
      world.away = 1h;
      if (world.resume(2, {}, {.at_record = second})) continue;
      world.away = 2h;
      const auto report = world.resume(3);
      ASSERT_TRUE(report) << report.error().message;
      EXPECT_EQ(world.child("explore").state, SessionState::completed) << world.child("explore").error;
      deaths += 1;
    }
  }
  EXPECT_GT(deaths, 5);
}

}  // namespace
}  // namespace deputy
