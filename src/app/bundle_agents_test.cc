#include <gmock/gmock.h>

#include "app/bundle.h"
#include "delegation/profile_inheritance.h"
#include "guard/rules.h"

namespace deputy {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Event created(const Session& session) {
  return {.tree = SessionId("sess_1_root"), .run = {session.id, 1}, .fact = SessionCreated{session}};
}

// A root hands work to a scout, as both are at the beginning.
class AnAgentOfATree : public testing::Test {
 protected:
  AnAgentOfATree() {
    root_.id = SessionId("sess_1_root");
    root_.agent = "main";
    root_.workspace_mode = WorkspaceMode::shared;
    root_.permissions = Rules({{Decision::allow, "Bash", ""}}).to_json();
    root_.network = true;
    Session child = *inherited_session(root_, scout_, {.made_by = ModelName("a/b"), .max_turns = 9});
    child.id = SessionId("sess_1_scout");
    events_ = {created(root_), created(child)};
  }
  std::set<std::string> changed_with(const Profile& scout) const {
    Profiles profiles;
    profiles.add({.name = "main", .network = true});
    profiles.add(scout);
    return changed_agents(profiles, events_);
  }

  const Profile scout_{.name = "scout",
                       .max_turns = 9,
                       .kind = WorkKind::research,
                       .timeout = std::chrono::minutes(5),
                       .permissions = {.ask = {"Bash(rm:*)"}},
                       .network = true};
  Session root_;
  std::vector<Event> events_;
};

TEST_F(AnAgentOfATree, IsToldToHaveChangedWhereItCouldNotHaveHadItsSession) {
  EXPECT_THAT(changed_with(scout_), IsEmpty());
  const auto changed = [this](auto change) {
    Profile scout = scout_;
    change(scout);
    return changed_with(scout);
  };
  EXPECT_THAT(changed([](auto& it) { it.kind = WorkKind::planning; }), ElementsAre("scout"));
  EXPECT_THAT(changed([](auto& it) { it.workspace = WorkspaceMode::scratch; }), ElementsAre("scout"));
  EXPECT_THAT(changed([](auto& it) { it.network = false; }), ElementsAre("scout"));
  EXPECT_THAT(changed([](auto& it) { it.permissions.ask.clear(); }), ElementsAre("scout"));
  EXPECT_THAT(changed([](auto& it) { it.max_turns = 8; }), ElementsAre("scout")) << "it had nine";
  EXPECT_THAT(changed([](auto& it) { it.tools = {"no such tool"}; }), ElementsAre("scout"));
}

TEST_F(AnAgentOfATree, MayBeAsItWasWhereItsCallCouldHaveWishedForThat) {
  Profile scout = scout_;
  scout.max_turns = 10;
  scout.timeout = std::chrono::minutes(7);
  scout.max_output_tokens = 100;
  scout.model = ModelName("c/d");
  scout.instructions = "others";
  EXPECT_THAT(changed_with(scout), IsEmpty());
}

TEST_F(AnAgentOfATree, AtItsRootHasNoCallAndIsHeldToWhatItIs) {
  Profiles profiles;
  profiles.add(scout_);
  profiles.add({.name = "main", .network = true});
  EXPECT_THAT(changed_agents(profiles, events_), IsEmpty());
  profiles.add({.name = "main", .max_turns = 3, .network = true});
  EXPECT_THAT(changed_agents(profiles, events_), ElementsAre("main"));
  profiles.add({.name = "main", .network = false});
  EXPECT_THAT(changed_agents(profiles, events_), ElementsAre("main"));
}

TEST_F(AnAgentOfATree, ThatIsGoneHasChanged) {
  Profiles profiles;
  profiles.add({.name = "main", .network = true});
  EXPECT_THAT(changed_agents(profiles, events_), ElementsAre("scout"));
  EXPECT_THAT(changed_agents(Profiles(), events_), ElementsAre("main", "scout"));
}

}  // namespace
}  // namespace deputy
