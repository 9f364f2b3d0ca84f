#include "delegation/admission.h"

#include <gtest/gtest.h>

#include "delegation/profiles.h"
#include "delegation/tree.h"

namespace deputy {
namespace {

std::string told(const std::optional<Error>& refusal) { return refusal ? to_text(*refusal) : ""; }

TEST(Admission, RefusesWhereNoChildMayEverRun) {
  const Session parent;
  const Profile profile{.name = "reader"};
  EXPECT_FALSE(refusal_of_child(parent, profile, {}));
  TreeLimits limits;
  limits.live_children = 1;
  EXPECT_FALSE(refusal_of_child(parent, profile, limits));
  limits.live_children = 0;
  EXPECT_TRUE(told(refusal_of_child(parent, profile, limits)).contains("--max-children is 0"));
  limits = {};
  limits.live_sessions = 0;
  EXPECT_TRUE(told(refusal_of_child(parent, profile, limits)).contains("--max-live is 0"));
}

TEST(Admission, RefusesAProfileThatIsOnThePath) {  // deleg-10
  Session parent;
  parent.depth = 1;
  parent.path = {"main", "general"};
  const auto profiles = Profiles::built_in();
  const auto general = profiles.find("general");
  ASSERT_TRUE(general);
  EXPECT_TRUE(told(refusal_of_child(parent, **general, {})).starts_with("cycle"));
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
      report_without_context(delegation, {ErrorCode::not_found, "no file", "name another"});
  EXPECT_EQ(missing.status, Status::failed);
  EXPECT_EQ(missing.errors.front().type, "context");
  EXPECT_EQ(missing.errors.front().code, "NOT_FOUND") << "nobody denied it";
  EXPECT_EQ(report_without_context(delegation, {ErrorCode::denied, "kept back", ""}).errors.front().code,
            "DENIED");
}

TEST(Refusal, OfWhatIsNotThereIsNoBugOfDeputys) {
  const Session parent;
  const Delegation delegation{.key = {}, .parent = parent, .model = {}, .agent = "explore", .brief = {}};
  for (const auto code : {ErrorCode::not_found, ErrorCode::invalid}) {
    const Report refused = report_of_refusal(delegation, Error{code, "unknown model 'x'", "choose another"});
    EXPECT_EQ(refused.reason, Reason::denied);
    EXPECT_EQ(refused.errors.front().code, "DENIED");
  }
  EXPECT_EQ(report_of_refusal(delegation, Error{ErrorCode::internal, "a bug", ""}).reason, Reason::internal)
      << "control";
}

TEST(Refusal, AtALimitIsAlwaysRecoverableAndSaysHow) {
  const Session parent;
  const Delegation delegation{.key = {}, .parent = parent, .model = {}, .agent = "explore", .brief = {}};
  for (const auto* advice : {"", "raise it"}) {
    const Report refused = report_of_refusal(delegation, Error{ErrorCode::exhausted, "no room", advice});
    EXPECT_TRUE(refused.errors.front().recoverable) << advice;
    EXPECT_NE(refused.errors.front().recommendation, "") << advice;
  }
  EXPECT_FALSE(
      report_of_refusal(delegation, Error{ErrorCode::internal, "a bug", ""}).errors.front().recoverable)
      << "control";
}

TEST(Refusal, OfACycleIsNoBudget) {
  Session parent;
  parent.path = {"main", "explore"};
  parent.depth = 1;
  const Delegation delegation{.key = {}, .parent = parent, .model = {}, .agent = "explore", .brief = {}};
  const Profile profile{.name = "explore"};
  const auto cycle = refusal_of_child(parent, profile, {});
  ASSERT_TRUE(cycle);
  EXPECT_EQ(report_of_refusal(delegation, *cycle).reason, Reason::denied);
  const auto too_deep = refusal_of_child(parent, profile, {.depth = 1});
  ASSERT_TRUE(too_deep);
  EXPECT_EQ(report_of_refusal(delegation, *too_deep).reason, Reason::budget) << "control";
}

}  // namespace
}  // namespace deputy
