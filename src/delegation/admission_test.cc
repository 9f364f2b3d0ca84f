#include "delegation/admission.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace deputy
