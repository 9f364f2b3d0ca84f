#include "app/exit_status.h"

#include <gtest/gtest.h>

namespace deputy {
namespace {

int number(ExitStatus status) { return static_cast<int>(status); }

TEST(ExitStatus, FollowsTheRootSession) {
  EXPECT_EQ(number(exit_status_of(Status::completed)), 0);
  EXPECT_EQ(number(exit_status_of(Status::partial)), 3);
  EXPECT_EQ(number(exit_status_of(Status::blocked)), 4);
  EXPECT_EQ(number(exit_status_of(Status::failed)), 1);
  EXPECT_EQ(number(exit_status_of(Status::cancelled)), 130);
}

TEST(ExitStatus, OfABatchIsZeroOnlyWhenAllAreOk) {
  EXPECT_EQ(number(exit_status_of(BatchCount{.ok = 3, .total = 3})), 0);
  EXPECT_EQ(number(exit_status_of(BatchCount{.ok = 2, .partial = 1, .total = 3})), 3);
  EXPECT_EQ(number(exit_status_of(BatchCount{.ok = 1, .total = 3})), 3);
  EXPECT_EQ(number(exit_status_of(BatchCount{.partial = 1, .total = 3})), 3);
  EXPECT_EQ(number(exit_status_of(BatchCount{.total = 3})), 1);
}

TEST(ExitStatus, OfABatchWithoutTasksIsAFailure) { EXPECT_EQ(number(exit_status_of(BatchCount{})), 1); }

}  // namespace
}  // namespace deputy
