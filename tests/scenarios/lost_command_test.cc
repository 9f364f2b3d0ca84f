// A command in the background that had ended when the process died: its own record knows how, and so does the
// report of the child that started it.
#include <gmock/gmock.h>

#include "support/acting_model.h"
#include "support/sim_world.h"

namespace deputy {
namespace {

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
      if (!ended || ended->report.depth != 1 || !was_told) continue;
      ++known;
      EXPECT_EQ(ended->report.commands, (std::vector<CommandRun>{{"make", 3}})) << "record " << record;
    }
  }
  EXPECT_GT(known, 0) << "control";
}

}  // namespace
}  // namespace deputy
