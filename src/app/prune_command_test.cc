#include "app/prune_command.h"

#include <gmock/gmock.h>

namespace deputy {
namespace {

using ::testing::ElementsAre;

constexpr WallTime at(int seconds) { return WallTime{std::chrono::seconds(seconds)}; }

Session session(const std::string& id, const std::string& tree, SessionState state, int last) {
  Session made;
  made.id = SessionId(id);
  made.tree = SessionId(tree);
  if (id != tree) made.parent = made.tree;
  made.state = state;
  made.last_event_at = at(last);
  return made;
}

std::vector<std::string> chosen(int before, const std::vector<Session>& sessions) {
  std::vector<std::string> ids;
  for (const auto& tree : ended_before(at(before), sessions)) ids.push_back(tree.root.id.value);
  return ids;
}

TEST(PruneCommand, ChoosesTreesThatEndedLongEnoughAgoOldestFirst) {
  const std::vector sessions{session("a", "a", SessionState::completed, 30),
                             session("b", "b", SessionState::failed, 20),
                             session("c", "c", SessionState::cancelled, 40)};
  EXPECT_THAT(chosen(30, sessions), ElementsAre("b", "a"));
  EXPECT_THAT(chosen(29, sessions), ElementsAre("b"));
}

TEST(PruneCommand, AChildThatHasNotEndedOrEndedLaterKeepsItsTree) {
  const std::vector sessions{
      session("a", "a", SessionState::completed, 10), session("a1", "a", SessionState::interrupted, 10),
      session("b", "b", SessionState::completed, 10), session("b1", "b", SessionState::completed, 50)};
  EXPECT_THAT(chosen(49, sessions), ElementsAre());
  EXPECT_THAT(chosen(50, sessions), ElementsAre("b"));
}

}  // namespace
}  // namespace deputy
