#include "delegation/admission.h"

#include <gtest/gtest.h>

#include "delegation/profiles.h"
#include "delegation/tree.h"

namespace deputy {
namespace {

TEST(Admission, RefusesWhereNoChildMayEverRun) {
  const Session parent;
  const Profile profile{.name = "reader"};
  EXPECT_FALSE(refusal_of_child(parent, profile, {}));
  TreeLimits limits;
  limits.live_children = 1;
  EXPECT_FALSE(refusal_of_child(parent, profile, limits));
  limits.live_children = 0;
  EXPECT_TRUE(refusal_of_child(parent, profile, limits).value_or("").contains("--max-children is 0"));
  limits = {};
  limits.live_sessions = 0;
  EXPECT_TRUE(refusal_of_child(parent, profile, limits).value_or("").contains("--max-live is 0"));
}

TEST(Admission, RefusesAProfileThatIsOnThePath) {  // deleg-10
  Session parent;
  parent.depth = 1;
  parent.path = {"main", "general"};
  const auto profiles = Profiles::built_in();
  const auto general = profiles.find("general");
  ASSERT_TRUE(general);
  EXPECT_TRUE(refusal_of_child(parent, **general, {}).value_or("").starts_with("cycle"));
  EXPECT_FALSE(refusal_of_child(parent, **profiles.find("explore"), {})) << "control";
  EXPECT_FALSE(profiles.find("GENERAL")) << "changed case is another name, and nobody has it";
}

TEST(Refusal, OfAChildWhoseParentWasStoppedIsACancelAndNoFailure) {
  const Session parent;
  const Delegation delegation{.key = {}, .parent = parent, .model = {}, .agent = "explore", .brief = {}};
  const Report stopped = report_of_refusal(delegation, Error{ErrorCode::cancelled, "not started", ""});
  EXPECT_EQ(stopped.status, Status::cancelled);
  EXPECT_EQ(stopped.reason, Reason::parent_stopped);
  EXPECT_EQ(report_of_refusal(delegation, Error{ErrorCode::exhausted, "no", ""}).status, Status::failed);
}

TEST(Refusal, IsAnErrorWithTypeAndCode) {
  const Session parent;
  const Delegation delegation{.key = {}, .parent = parent, .model = {}, .agent = "explore", .brief = {}};
  const Report refused = report_of_refusal(delegation, Error{ErrorCode::exhausted, "no room", ""});
  ASSERT_EQ(refused.errors.size(), 1u);
  EXPECT_EQ(refused.errors.front().type, "budget");
  EXPECT_EQ(refused.errors.front().code, "BUDGET");
  const Report missing =
      report_of_refusal(delegation, Error{ErrorCode::not_found, "no file", ""}, Reason::denied);
  EXPECT_EQ(missing.reason, Reason::denied);
  EXPECT_EQ(missing.errors.front().type, "denied") << "as the reason";
}

}  // namespace
}  // namespace deputy
