#include "base/disk_watch.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <fstream>

#include "support/temp_folder.h"

namespace deputy {
namespace {

bool has_told(const DiskWatch& watch) {
  pollfd waited{.fd = watch.descriptor(), .events = POLLIN, .revents = 0};
  return ::poll(&waited, 1, 0) == 1;
}

void write(const std::string& path, std::string_view text) { std::ofstream(path, std::ios::app) << text; }

TEST(DiskWatch, TellsOfAFileThatIsWrittenToUntilItIsToldToForget) {
  const TempFolder home;
  write(home.file("log"), "1");
  const auto watch = DiskWatch::on(home.path());
  ASSERT_TRUE(watch);
  EXPECT_FALSE(has_told(*watch));
  write(home.file("log"), "2");
  EXPECT_TRUE(has_told(*watch));
  watch->forget();
  EXPECT_FALSE(has_told(*watch));
  write(home.file("log"), "3");
  EXPECT_TRUE(has_told(*watch)) << "it can be told again";
}

TEST(DiskWatch, OfAFolderThatIsNotThereIsNone) {
  const TempFolder home;
  EXPECT_FALSE(DiskWatch::on(home.file("nowhere")));
}

}  // namespace
}  // namespace deputy
