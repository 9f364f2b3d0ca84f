#include "app/doctor_check.h"

#include <gmock/gmock.h>

namespace deputy {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr uid_t kRoot = 0;
constexpr uid_t kOrdinaryUser = 1000;

TEST(DoctorCheck, ASandboxThatIsolatesIsFine) {
  const auto check = check_sandbox(
      Capability{.level = SandboxLevel::metered, .landlock_abi = 7, .seccomp = true, .user_namespaces = true},
      kRoot);
  EXPECT_TRUE(check.is_fine);
  EXPECT_THAT(check.found, AllOf(HasSubstr("level 3 of 3"), HasSubstr("Landlock ABI 7"),
                                 HasSubstr("user namespaces yes"), HasSubstr("as root")));
}

TEST(DoctorCheck, WithoutUserNamespacesItSaysWhyAndWhatToDo) {
  const auto check = check_sandbox(Capability{.level = SandboxLevel::restricted,
                                              .landlock_abi = 7,
                                              .seccomp = true,
                                              .user_namespaces = false,
                                              .why = "namespaces cannot be made: bwrap: no",
                                              .fix = "allow user namespaces"},
                                   kOrdinaryUser);
  EXPECT_FALSE(check.is_fine);
  EXPECT_EQ(check.need, Need::useful);
  EXPECT_THAT(check.found,
              AllOf(HasSubstr("level 1 of 3"), HasSubstr("user namespaces no"),
                    HasSubstr("as an ordinary user"), HasSubstr("not higher because namespaces")));
  EXPECT_EQ(check.fix, "allow user namespaces");
}

TEST(DoctorCheck, WithoutAnySandboxSomethingThatIsNeededIsMissing) {
  const auto check =
      check_sandbox(Capability{.why = "the kernel has no Landlock", .fix = "a newer kernel"}, kRoot);
  EXPECT_FALSE(check.is_fine);
  EXPECT_EQ(check.need, Need::required);
  EXPECT_THAT(check.found, HasSubstr("so none will be run"));
  const auto failed =
      check_sandbox(fail(ErrorCode::unavailable, "deputy-init said nothing", "reinstall"), kRoot);
  EXPECT_EQ(failed.fix, "reinstall");
}

}  // namespace
}  // namespace deputy
