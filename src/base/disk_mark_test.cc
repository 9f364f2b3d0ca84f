#include "base/disk_mark.h"

#include <gtest/gtest.h>

#include <fstream>

#include "support/temp_folder.h"

namespace deputy {
namespace {

TEST(DiskMark, KeepsTheLastNumberAndBelievesNoDamagedOne) {
  const TempFolder home;
  const auto folder = *SystemDisk().open(home.path(), IfAbsent::fail);
  auto mark = *DiskMark::open(*folder, "mark");
  EXPECT_EQ(mark.read(), std::nullopt);
  for (const std::uint64_t number : {std::uint64_t{12345}, std::uint64_t{0}, ~std::uint64_t{0}}) {
    mark.write(number);
    EXPECT_EQ(DiskMark::open(*folder, "mark")->read(), number);
  }
  std::fstream(home.file("mark"), std::ios::in | std::ios::out).put('2');
  EXPECT_EQ(mark.read(), std::nullopt);
}

TEST(DiskMark, IsNotMadeForWhoOnlyLooks) {
  const TempFolder home;
  const auto folder = *SystemDisk().open(home.path(), IfAbsent::fail);
  EXPECT_EQ(DiskMark::open(*folder, "mark", IfAbsent::fail).error().code, ErrorCode::not_found);
  EXPECT_FALSE(folder->status("mark"));
  DiskMark::open(*folder, "mark")->write(5);
  EXPECT_EQ(DiskMark::open(*folder, "mark", IfAbsent::fail)->read(), 5u);
}

TEST(DiskMark, IsRaisedAndNeverLoweredBySomebodyWhoIsLate) {
  const TempFolder home;
  const auto folder = *SystemDisk().open(home.path(), IfAbsent::fail);
  auto mine = *DiskMark::open(*folder, "mark");
  auto theirs = *DiskMark::open(*folder, "mark");
  mine.raise(5);
  theirs.raise(7);
  mine.raise(6);
  EXPECT_EQ(mine.read(), 7u);
  std::fstream(home.file("mark"), std::ios::in | std::ios::out).put('2');
  mine.raise(6);
  EXPECT_EQ(mine.read(), 6u) << "a damaged one is none";
}

}  // namespace
}  // namespace deputy
