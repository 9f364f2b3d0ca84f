#include "delegation/report_pruning.h"

#include <gmock/gmock.h>

namespace deputy {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

class PruningReports : public testing::Test {
 protected:
  void put(std::string_view name, std::string_view text = "x") {
    if (const auto slash = name.rfind('/'); slash != std::string_view::npos)
      ASSERT_TRUE(state->make_folder(name.substr(0, slash)));
    ASSERT_TRUE(state->append_to(name, text));
  }
  void prune(const std::set<SessionId>& unfinished = {}) {
    for (const auto& pruned :
         {prune_errors_log(*state, clock.wall()), prune_reports(*state, clock.wall(), unfinished)})
      EXPECT_TRUE(pruned) << pruned.error().message;
  }
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& [name, bytes] : disk.files()) names.push_back(name);
    return names;
  }

  ManualClock clock;
  MemoryDisk disk{clock};
  std::unique_ptr<Folder> state = *disk.open("/home", IfAbsent::create);
};

TEST_F(PruningReports, SevenDaysOldTheyStayAndPastThatTheyGoWithTheirFolder) {
  put("reports/sess_1_aaaaaa/general-sess_2_bbbbbb.md");
  put("errors.jsonl");
  clock.advance(kReportsKept);
  EXPECT_EQ(has_old_reports(*state, clock.wall()), false);
  prune();
  EXPECT_THAT(files(),
              ElementsAre("/home/errors.jsonl", "/home/reports/sess_1_aaaaaa/general-sess_2_bbbbbb.md"));
  clock.advance(std::chrono::seconds(1));
  EXPECT_EQ(has_old_reports(*state, clock.wall()), true);
  prune();
  EXPECT_THAT(files(), IsEmpty());
  EXPECT_FALSE(state->status("reports/sess_1_aaaaaa"));
}

TEST_F(PruningReports, WhatASessionThatHasNotEndedWasHandedStays) {
  put("reports/sess_1_aaaaaa/a.md");
  put("reports/sess_2_bbbbbb/b.md");
  clock.advance(kReportsKept * 2);
  put("reports/sess_2_bbbbbb/new.md");
  prune({SessionId("sess_1_aaaaaa")});
  EXPECT_THAT(files(), ElementsAre("/home/reports/sess_1_aaaaaa/a.md", "/home/reports/sess_2_bbbbbb/new.md"));
}

TEST_F(PruningReports, ALogThatHasGrownLongIsPutAside) {
  put("errors.jsonl", std::string(kLongLog, 'e'));
  prune();
  EXPECT_THAT(files(), ElementsAre("/home/errors.jsonl"));
  put("errors.jsonl", "e");
  prune();
  EXPECT_THAT(disk.files(), ElementsAre(Pair("/home/errors.old.jsonl", std::string(kLongLog + 1, 'e'))));
}

TEST_F(PruningReports, AFolderThatWasLeftEmptyGoesToo) {
  ASSERT_TRUE(state->make_folder("reports/sess_1_aaaaaa"));
  EXPECT_EQ(has_old_reports(*state, clock.wall()), true);
  prune();
  EXPECT_FALSE(state->status("reports/sess_1_aaaaaa"));
}

TEST_F(PruningReports, AnEmptyStateHasNothingToPrune) {
  EXPECT_EQ(has_old_reports(*state, clock.wall()), false);
  prune();
  EXPECT_THAT(files(), IsEmpty());
}

}  // namespace
}  // namespace deputy
