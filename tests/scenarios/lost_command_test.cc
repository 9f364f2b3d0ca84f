// Commands of a run that was stopped, as the next one is told of them: one in the background that had ended,
// of which its own record knows how, as does the report of the child that started it; and one that never
// began.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>

#include "store/sqlite/leftovers.h"
#include "support/dialogue_world.h"

namespace deputy {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using namespace std::chrono_literals;

// The command ends while the child thinks, and with that thought its end would have been recorded.
Act starts_a_command(const Scene& scene) {
  if (scene.depth == 0)
    return scene.step > 0 ? Act{.text = "over"}
                          : Act{.calls = {call_of("task", R"({"agent":"general","prompt":"go"})")}};
  if (scene.step > 0) return {.text = "done", .after = 5s};
  return {.calls = {call_of("Bash", R"({"command":"make","run_in_background":true})")}};
}

class LostCommand : public testing::Test {
 protected:
  Life::Options options(CrashPoint crash) const {
    return {.crash = crash,
            .model = [](Loop& loop) { return std::make_unique<ActingModel>(loop, starts_a_command); }};
  }
  static void define_program(Life& life) {
    life.processes().define("bash", [](const ProcessSpec&) { return ProcessResult{.exit_status = 3}; }, 1s);
  }
  // Nothing where it did not die.
  bool dies_and_goes_on(SimWorld& world, int record) const {
    {
      Life life(world, options({record, false}));
      define_program(life);
      RootBrief root = life.brief("go");
      root.model = ModelName("acting/test");
      root.rules = Rules({{Decision::allow, "task", ""}, {Decision::allow, "Bash", ""}});
      (void)life.start(root);
      if (!life.crashed()) return false;
    }
    if (world.sessions().empty()) return true;
    Life life(world, options({}));
    define_program(life);
    EXPECT_TRUE(life.resume(world.sessions().front().id));
    return true;
  }
};

TEST_F(LostCommand, HasItsExitStatusInTheReportWhereOnlyItsRecordKnewIt) {
  int known = 0;
  for (int record = 1;; ++record) {
    SimWorld world;
    world.script = R"({"v":1,"sessions":[{"replies":[{"text":"never asked"}]}]})";
    if (!dies_and_goes_on(world, record)) break;
    bool was_told = false;
    for (const Event& event : world.memory->journal) {
      const auto* nudge = std::get_if<Nudged>(&event.fact);
      was_told = was_told || (nudge && nudge->text.contains("with exit status 3"));
      const auto* ended = std::get_if<RunEnded>(&event.fact);
      if (!ended || ended->report->depth != 1 || !was_told) continue;
      ++known;
      EXPECT_EQ(ended->report->commands, (std::vector<CommandRun>{{"make", 3}})) << "record " << record;
    }
  }
  EXPECT_GT(known, 0) << "control";
}

// What it was told is what it says.
Act runs_a_command(const Scene& scene) {
  if (scene.step == 0) return {.calls = {call_of("Bash", R"({"command":"make"})")}};
  return {.text = "told: " + scene.heard};
}

// The same by a child, which its parent resumes.
Act child_runs_a_command(const Scene& scene) {
  if (scene.depth > 0) return runs_a_command(scene);
  if (scene.step == 0) return {.calls = {call_of("task", R"({"agent":"general","prompt":"go"})")}};
  if (scene.step > 1) return {.text = "over"};
  return {.calls = {call_of(
              "task", fmt::format(R"({{"resume":"{}","prompt":"go on"}})", scene.value_of("Session: ")))}};
}

class UnbegunCommand : public testing::Test {
 protected:
  // Its process dies when the intent of its command is on record and nothing else is; the person ends the
  // session while nobody runs it.
  static std::unique_ptr<DialogueWorld> died_before_its_command(ActingModel::Play play) {
    for (int record = 1;; ++record) {
      auto world = std::make_unique<DialogueWorld>(play);
      world->rules = Rules({{Decision::allow, "task", ""}, {Decision::allow, "Bash", ""}});
      world->options.inbox_every = 80ms;
      world->options.crash = {record, true};
      if (world->run()) return nullptr;
      world->options.crash = {};
      const auto& journal = world->world.memory->journal;
      const auto* intent = journal.empty() ? nullptr : std::get_if<CallStarted>(&journal.back().fact);
      if (!intent || intent->tool != "Bash") continue;
      SimLoop other_loop{1};
      const Event& begun = journal.back();
      EXPECT_TRUE(MemoryStore(other_loop, world->world.memory)
                      .post({.tree = begun.tree, .session = begun.run.session, .kind = LetterKind::cancel}));
      return world;
    }
  }
  static bool has_record(const DialogueWorld& world) {
    return std::ranges::any_of(world.world.disk.files(),
                               [](const auto& file) { return file.first.starts_with("/home/commands/"); });
  }
};

TEST_F(UnbegunCommand, IsToldAsNotRunInTheNextRunOfARoot) {
  const auto world = died_before_its_command(runs_a_command);
  ASSERT_TRUE(world);
  ASSERT_TRUE(world->resume(2));
  EXPECT_EQ(world->child("root").reason, Reason::cancelled_by_user);
  EXPECT_FALSE(has_record(*world)) << "else it was begun";
  const auto report = world->say("and now?");
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_THAT(report->body, AllOf(HasSubstr("(make) that was given no result"), HasSubstr("it was not run"),
                                  Not(HasSubstr("unknown"))));
  EXPECT_EQ(world->facts<Nudged>().size(), 1u);
}

TEST_F(UnbegunCommand, IsToldAsNotRunInTheNextRunOfAChild) {
  const auto world = died_before_its_command(child_runs_a_command);
  ASSERT_TRUE(world);
  ASSERT_TRUE(world->resume(2));
  EXPECT_EQ(world->child("general").run, 2);
  EXPECT_THAT(world->child("general").result, AllOf(HasSubstr("(make) that was given no result"),
                                                    HasSubstr("it was not run"), Not(HasSubstr("unknown"))));
  EXPECT_FALSE(has_record(*world)) << "else it was begun";
}

// Its record would have been removed by then.
TEST_F(UnbegunCommand, IsUnknownOnceRecordsAreNotKeptAnyMore) {
  for (const auto late : {0s, 1s}) {
    const auto world = died_before_its_command(runs_a_command);
    ASSERT_TRUE(world);
    ASSERT_TRUE(world->resume(2));
    world->away = kKeptFor + late;
    const auto report = world->say("and now?");
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_THAT(report->body, HasSubstr(late == 0s ? "it was not run" : "how far it came is unknown"));
  }
}

}  // namespace
}  // namespace deputy
