#include "store/sqlite/database.h"

#include <gtest/gtest.h>

#include "support/temp_folder.h"

namespace deputy {
namespace {

class DatabaseTest : public testing::Test {
 protected:
  TempFolder folder_;
  Database database_ = *Database::open(folder_.file("some.db"), Database::Mode::read_write);
};

TEST_F(DatabaseTest, AQueryThatIsAskedAgainKnowsNothingOfWhatWasAskedBefore) {
  {
    auto asked = database_.prepare("SELECT ?1");
    ASSERT_TRUE(asked);
    ASSERT_EQ(asked->bind(std::int64_t{7}).step(), true);
    EXPECT_EQ(asked->integer(0), 7);
  }
  auto again = database_.prepare("SELECT ?1");
  ASSERT_TRUE(again);
  ASSERT_EQ(again->step(), true);
  EXPECT_FALSE(again->maybe_integer(0)) << "nothing is bound";
}

TEST_F(DatabaseTest, TheSameQueryIsAskedTwiceAtATime) {
  (void)*database_.prepare("SELECT ?1");  // one that is ready
  auto one = database_.prepare("SELECT ?1");
  auto other = database_.prepare("SELECT ?1");
  ASSERT_EQ(one->bind(std::int64_t{1}).step(), true);
  ASSERT_EQ(other->bind(std::int64_t{2}).step(), true);
  EXPECT_EQ(one->integer(0), 1);
  EXPECT_EQ(other->integer(0), 2);
}

TEST_F(DatabaseTest, AQueryThatIsReadyHoldsNothingAndSeesATableAsItIsNow) {
  ASSERT_TRUE(database_.execute("CREATE TABLE t (a); INSERT INTO t VALUES (1), (2)"));
  EXPECT_EQ(database_.integer("SELECT max(a) FROM t"), 2);
  {
    auto left_in_the_middle = database_.prepare("SELECT a FROM t");
    ASSERT_EQ(left_in_the_middle->step(), true);
  }
  EXPECT_TRUE(database_.execute("DROP TABLE t; CREATE TABLE t (b, a); INSERT INTO t VALUES (3, 4)"));
  EXPECT_EQ(database_.integer("SELECT max(a) FROM t"), 4);
  ASSERT_TRUE(database_.execute("DROP TABLE t"));
  EXPECT_FALSE(database_.integer("SELECT max(a) FROM t"));
}

}  // namespace
}  // namespace deputy
