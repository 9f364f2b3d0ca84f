// Whichever allocation fails while the context files of a task are read: that is an error of this task.
#include "delegation/context_files.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "failing_memory.h"

namespace deputy {
namespace {

TEST(ContextFilesWithoutMemory, AreAnErrorOfTheirTask) {
  const ManualClock clock;
  MemoryDisk disk{clock};
  const auto folder = *disk.open("/work", IfAbsent::create);
  ASSERT_TRUE(folder->replace("a", std::string(5000, 'x')));
  const Sight sight = *Sight::of(Session{});
  const std::vector<std::string> paths{"a"};
  const auto whole = with_context_files("prompt", paths, *folder, sight);
  ASSERT_TRUE(whole);
  long refused = 0;
  for (long failing = 1; failing < 10'000; ++failing) {
    std::optional<Result<std::string>> read;
    {
      const memory::Count counting(failing);
      read.emplace(with_context_files("prompt", paths, *folder, sight));
    }
    if (!memory::has_failed) break;
    if (*read) continue;  // one that did without it
    refused += 1;
    EXPECT_TRUE(read->error().message.contains("context files of this task")) << read->error().message;
  }
  EXPECT_GT(refused, 0) << "nothing was refused: this proves nothing";
  EXPECT_EQ(with_context_files("prompt", paths, *folder, sight), whole);
}

}  // namespace
}  // namespace deputy
