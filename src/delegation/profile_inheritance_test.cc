#include "delegation/profile_inheritance.h"

#include <gmock/gmock.h>

#include "base/random.h"
#include "guard/rules.h"
#include "transcript/limits.h"

namespace deputy {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Session parent_session() {
  Session parent;
  parent.id = SessionId("sess_1_parent");
  parent.path = {"main"};
  parent.model = ModelName("scripted/parent");
  parent.workspace_mode = WorkspaceMode::shared;
  parent.network = true;
  parent.permissions = Rules().to_json();
  return parent;
}
Profile some_profile() { return {.name = "child", .tools = {"Read", "Bash", "Note"}}; }
CallWishes call_by(std::string_view model) { return {.made_by = ModelName(std::string(model))}; }

Session child_of(const Session& parent, const Profile& profile,
                 const CallWishes& call = call_by("scripted/now")) {
  auto child = inherited_session(parent, profile, call);
  EXPECT_TRUE(child) << child.error().message;
  return child ? *std::move(child) : Session{};
}

TEST(Inheritance, TheModelInheritedIsTheOneThatProducedTheCallEvenIfThePersonSwitchedMeanwhile) {
  EXPECT_EQ(child_of(parent_session(), some_profile(), call_by("scripted/then")).model,
            ModelName("scripted/then"));
}

TEST(Inheritance, AProfilesOwnModelComesBeforeIt) {
  Profile profile = some_profile();
  profile.model = ModelName("scripted/own");
  EXPECT_EQ(child_of(parent_session(), profile).model, ModelName("scripted/own"));
  CallWishes call = call_by("scripted/now");
  call.model = ModelName("scripted/said");
  EXPECT_EQ(child_of(parent_session(), profile, call).model, ModelName("scripted/said"));
}

TEST(Inheritance, OutputCapAndStepCapAreInheritedWhenAbsent) {
  Session parent = parent_session();
  parent.max_output_tokens = 1234;
  parent.max_turns = 6;
  Profile profile = some_profile();
  EXPECT_EQ(child_of(parent, profile).max_output_tokens, 1234);
  EXPECT_EQ(child_of(parent, profile).max_turns, 6);
  profile.max_output_tokens = 99;
  profile.max_turns = 8;
  EXPECT_EQ(child_of(parent, profile).max_output_tokens, 99);
  EXPECT_EQ(child_of(parent, profile).max_turns, 8);
}

TEST(Inheritance, NoneIsNoCapOnStepsWhateverTheParentHas) {
  Session parent = parent_session();
  parent.max_turns = 6;
  Profile profile = some_profile();
  profile.max_turns = kUnlimited<int>;
  const Session child = child_of(parent, profile);
  EXPECT_FALSE(child.max_turns);
  EXPECT_FALSE(child_of(child, some_profile()).max_turns) << "which is inherited too";
  CallWishes call = call_by("scripted/now");
  call.max_turns = 3;
  EXPECT_EQ(child_of(parent, profile, call).max_turns, 3);
}

TEST(Inheritance, GrandchildrenInheritFromTheResolvedChild) {
  Profile middle = some_profile();
  middle.kind = WorkKind::planning;
  middle.max_turns = 3;
  middle.max_output_tokens = 77;
  const Session child = child_of(parent_session(), middle);
  const Session grandchild = child_of(child, some_profile(), call_by(child.model.value));
  EXPECT_EQ(grandchild.max_turns, 3);
  EXPECT_EQ(grandchild.max_output_tokens, 77);
  EXPECT_EQ(grandchild.kind, WorkKind::planning);
  EXPECT_EQ(grandchild.timeout, std::chrono::seconds(1800));
  EXPECT_EQ(grandchild.model, child.model);
  EXPECT_EQ(grandchild.depth, 2);
  EXPECT_THAT(grandchild.path, ElementsAre("main", "child", "child"));
}

TEST(Inheritance, TheDeadlineGoesByKind) {
  const std::pair<WorkKind, int> kinds[] = {{WorkKind::research, 3600},
                                            {WorkKind::planning, 1800},
                                            {WorkKind::implementation, 7200},
                                            {WorkKind::simple, 300}};
  for (const auto& [kind, seconds] : kinds) {
    Profile profile = some_profile();
    profile.kind = kind;
    EXPECT_EQ(child_of(parent_session(), profile).timeout, std::chrono::seconds(seconds));
  }
}

TEST(Inheritance, WhereNobodySaysAKindTheWorkIsSimple) {
  EXPECT_EQ(child_of(parent_session(), some_profile()).kind, WorkKind::simple);
  EXPECT_EQ(child_of(parent_session(), some_profile()).timeout, std::chrono::seconds(300));
}

TEST(Inheritance, ProfileOrCallMaySetAnotherTimeOrNone) {
  Profile profile = some_profile();
  profile.kind = WorkKind::research;
  profile.timeout = std::chrono::seconds(5);
  EXPECT_EQ(child_of(parent_session(), profile).timeout, std::chrono::seconds(5));
  CallWishes call = call_by("scripted/now");
  call.timeout = std::chrono::seconds(9);
  EXPECT_EQ(child_of(parent_session(), profile, call).timeout, std::chrono::seconds(9));
  profile.timeout = kNoTimeout;
  EXPECT_FALSE(child_of(parent_session(), profile).timeout);
  // And what is none is inherited as none.
  EXPECT_FALSE(child_of(child_of(parent_session(), profile), some_profile()).timeout);
}

TEST(Inheritance, ACallLowersTheCapOnStepsAndNeverRaisesIt) {
  Profile profile = some_profile();
  profile.max_turns = 10;
  CallWishes call = call_by("scripted/now");
  for (const auto& [said, becomes] : {std::pair(9, 9), std::pair(10, 10), std::pair(11, 10)}) {
    call.max_turns = said;
    EXPECT_EQ(child_of(parent_session(), profile, call).max_turns, becomes);
  }
}

TEST(Inheritance, WorkspaceAndNetworkAreNeverWiderThanTheParents) {
  Session parent = parent_session();
  parent.workspace_mode = WorkspaceMode::read_only;
  parent.network = false;
  Profile profile = some_profile();
  profile.network = true;
  EXPECT_EQ(child_of(parent, profile).workspace_mode, WorkspaceMode::read_only);
  EXPECT_FALSE(child_of(parent, profile).network);
  profile.network = false;
  EXPECT_FALSE(child_of(parent_session(), profile).network);
}

TEST(Inheritance, AProfileWithAToolThatDoesNotExistIsRefused) {
  Profile profile = some_profile();
  profile.tools.emplace_back("Teleport");
  const auto refused = inherited_session(parent_session(), profile, call_by("scripted/now"));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("Teleport"));
}

Rules rules_of(const Session& session) { return Rules::from_json(session.permissions).value(); }

Decision judged(const Rules& rules, std::string_view tool, std::string_view subject) {
  return tool == "Bash" ? rules.judge_command(subject, Decision::ask).decision
                        : rules.judge(tool, subject, Decision::allow).decision;
}
Decision judged(const Session& session, std::string_view tool, std::string_view subject) {
  return judged(rules_of(session), tool, subject);
}

TEST(Rights, WhatAProfileSaysNothingOfStaysAsTheParentHasIt) {
  Session parent = parent_session();
  parent.permissions = Rules({{Decision::allow, "Bash", ""}}).to_json();
  Profile profile = some_profile();
  profile.permissions.deny = {"Bash(rm:*)"};
  const Session child = child_of(parent, profile);
  EXPECT_EQ(judged(child, "Bash", "rm x"), Decision::deny);
  EXPECT_EQ(judged(child, "Bash", "ls x"), Decision::allow);
  EXPECT_EQ(judged(child, "Read", "/work/a"), Decision::allow);
}

TEST(Rights, WhatAProfileAllowsInPartItAsksAboutOtherwise) {
  Session parent = parent_session();
  parent.permissions = Rules({{Decision::allow, "Bash", ""}}).to_json();
  Profile profile = some_profile();
  profile.permissions.allow = {"Bash(git status:*)"};
  const Session child = child_of(parent, profile);
  EXPECT_EQ(judged(child, "Bash", "git status -s"), Decision::allow);
  EXPECT_EQ(judged(child, "Bash", "ls"), Decision::ask);
}

TEST(Rights, AnAllowOfAProfileLiftsNothingOfItsParents) {
  Profile profile = some_profile();
  profile.permissions.allow = {"Bash"};
  EXPECT_EQ(judged(child_of(parent_session(), profile), "Bash", "ls"), Decision::ask);
}

// Random chains of rules: whatever a profile says, no child may do what an ancestor may not.
TEST(Rights, NoChildMayDoWhatAnAncestorMayNotWhateverProfilesSay) {
  const std::vector<std::string> rules = {"Bash",          "Bash(git:*)",  "Bash(git push:*)", "Bash(!git:*)",
                                          "Read",          "Read(src/**)", "Read(!src/**)",    "Write",
                                          "Write(src/**)", "Edit",         "WebFetch",         "task"};
  const std::vector<std::pair<std::string, std::string>> calls = {
      {"Bash", "git push"}, {"Bash", "git status"}, {"Bash", "ls"},           {"Read", "/work/src/a"},
      {"Read", "/work/b"},  {"Write", "/work/b"},   {"Write", "/work/src/a"}, {"task", ""}};
  SeededRandom random(7);
  const auto some = [&] {
    std::vector<std::string> chosen;
    for (const auto& rule : rules) {
      if (random.below(4) == 0) chosen.push_back(rule);
    }
    return chosen;
  };
  for (int round = 0; round < 100; ++round) {
    Session above = parent_session();
    for (int depth = 0; depth < 3; ++depth) {
      Profile profile = some_profile();
      profile.permissions = {.allow = some(), .ask = some(), .deny = some()};
      const Session below = child_of(above, profile);
      const Rules theirs = rules_of(above);
      const Rules own = rules_of(below);
      for (const auto& [tool, subject] : calls) {
        ASSERT_GE(judged(own, tool, subject), judged(theirs, tool, subject))
            << tool << " " << subject << " round " << round;
      }
      above = below;
    }
  }
}

}  // namespace
}  // namespace deputy
