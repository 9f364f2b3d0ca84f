// What a step costs, counted where it is paid: how often the log is synced.
#include "disk_world.h"

namespace deputy {
namespace {

class SyncsOfTheLog : public testing::Test {
 protected:
  // Of a whole life: it opens the store, takes so many steps, and closes it.
  FaultyDisk::LogSyncs of_steps(int steps, std::string (*call)(int step)) {
    DiskWorld world(1);
    std::string replies;
    for (int step = 0; step < steps; ++step) {
      world.tree.world.write_file(fmt::format("{}.txt", step), fmt::format("number {}\n", step));
      replies += fmt::format(R"({{"calls":[{}]}},)", call(step));
    }
    world.tree.world.script =
        fmt::format(R"({{"v":1,"sessions":[{{"replies":[{}{{"text":"over"}}]}}]}})", replies);
    disk_.heal();
    {
      auto life = world.life(1);
      EXPECT_TRUE(life) << to_text(life.error());
      if (!life) return {};
      RootBrief root = (*life)->brief("go");
      root.rules = Rules({{Decision::allow, "Bash", ""}});
      const auto report = (*life)->start(std::move(root));
      EXPECT_TRUE(report && report->body == "over");
    }
    return disk_.log_syncs();
  }

  void expect_of_a_step(int commits, std::string_view kind, std::string (*call)(int step)) {
    constexpr int kFew = 20;
    constexpr int kSteps = 100;
    const auto few = of_steps(kFew, call);
    const auto many = of_steps(kFew + kSteps, call);
    const auto more = [&](std::vector<int> FaultyDisk::LogSyncs::* those) {
      return std::ssize(many.*those) - std::ssize(few.*those);
    };
    const auto of_commits = more(&FaultyDisk::LogSyncs::of_commits);
    const auto of_room = more(&FaultyDisk::LogSyncs::of_room);
    const auto others = more(&FaultyDisk::LogSyncs::others);
    fmt::print("figures: {} steps that {}: the log was synced {} times by commits, {} for room, {} else\n",
               kSteps, kind, of_commits, of_room, others);
    EXPECT_EQ(of_commits, commits * kSteps);
    EXPECT_LT(of_room, of_commits / 2);
    EXPECT_LE(others, kSteps / 10) << "where it is written back";
  }

  FaultyDisk disk_;
};

TEST_F(SyncsOfTheLog, AreOneForAStepThatOnlyReads) {
  expect_of_a_step(1, "only read", [](int step) {
    return fmt::format(R"({{"name":"Read","arguments":{{"file_path":"{}.txt"}}}})", step);
  });
}

TEST_F(SyncsOfTheLog, AreTwoForAStepWithAnEffect) {
  expect_of_a_step(2, "have an effect", [](int step) {
    return fmt::format(R"({{"name":"Bash","arguments":{{"command":"count {}"}}}})", step);
  });
}

}  // namespace
}  // namespace deputy
