#include "app/chat_commands.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "async/sim_loop.h"
#include "store/memory_store.h"
#include "support/temp_folder.h"

namespace deputy {
namespace {

using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

TEST(AResumedChat, TakesNoApprovalOfAnotherSessionWithIt) {
  const Redactor redactor;
  ChatState state{.redactor = redactor};
  SimLoop loop(1);
  const MemoryStore store(loop, std::make_shared<MemoryStore::Memory>());
  state.root = SessionId("sess_1_aaaaaa");
  state.session_rules = {"Bash(ls)"};
  fold_history(state, store, SessionId("sess_1_aaaaaa"), {});
  EXPECT_THAT(state.session_rules, testing::ElementsAre("Bash(ls)")) << "it is the same one";
  fold_history(state, store, SessionId("sess_2_bbbbbb"), {});
  EXPECT_THAT(state.session_rules, IsEmpty());
  EXPECT_EQ(state.root, SessionId("sess_2_bbbbbb"));
}

TEST(PathsToComplete, AreThoseOfTheWorkspaceAndNoOthers) {
  const TempFolder folder;
  const std::string work = folder.file("work");
  std::filesystem::create_directories(work + "/my notes");
  std::ofstream(work + "/a file.txt") << "x";
  std::ofstream(folder.file("outside.txt")) << "x";
  const SystemDisk disk;
  EXPECT_THAT(entries_of(disk, work, ""), UnorderedElementsAre("a file.txt", "my notes/"));
  EXPECT_THAT(entries_of(disk, work, "my notes/"), IsEmpty());
  EXPECT_THAT(entries_of(disk, work, "../"), IsEmpty());
  EXPECT_THAT(entries_of(disk, work, folder.path() + "/"), IsEmpty());
}

}  // namespace
}  // namespace deputy
