// A tree of eight on the real store, on a disk that a test commands.
#pragma once

#include "eight_children.h"
#include "faulty_disk.h"
#include "store/sqlite/sqlite_store.h"
#include "support/temp_folder.h"

namespace deputy {

struct DiskWorld {
  explicit DiskWorld(int children) : tree(children) {}

  Result<std::unique_ptr<Life>> life(std::uint64_t seed) {
    std::optional<Error> refused;
    auto made = tree.life({.seed = seed, .store = [&](Loop& loop) -> std::unique_ptr<Store> {
                             auto folder = SystemDisk().open(home.path(), IfAbsent::fail);
                             auto store =
                                 SqliteStore::open(loop, **folder, std::make_unique<InlineWriter>(loop));
                             if (store) return *std::move(store);
                             refused = store.error();
                             return std::make_unique<MemoryStore>(loop, tree.world.memory);
                           }});
    if (refused) return std::unexpected(*refused);
    return made;
  }

  // On a disk that works again: all that was acknowledged is there, and the tree goes on to its end, or is
  // begun where nothing of it was.
  void expect_goes_on(std::size_t acknowledged, std::uint64_t seed, const std::string& where) {
    auto next = life(seed);
    ASSERT_TRUE(next) << where << ": " << to_text(next.error());
    const Store& store = (*next)->runtime().store();
    const auto roots = store.sessions({.roots_only = true});
    ASSERT_TRUE(roots) << where << ": " << to_text(roots.error());
    if (acknowledged > 0) ASSERT_EQ(roots->size(), 1u) << where;
    if (roots->empty()) {
      const auto report = (*next)->start((*next)->brief("go"));
      tree.expect_whole(store, report, where);
      return;
    }
    const auto events = store.events_of_tree(roots->front().id);
    ASSERT_TRUE(events) << where << ": " << to_text(events.error());
    ASSERT_GE(events->size(), acknowledged) << where << ": what was acknowledged is lost";
    const auto report = (*next)->resume(roots->front().id);
    tree.expect_whole(store, report, where);
  }

  TempFolder home{TempFolder::Where::in_memory};
  EightChildren tree;
};

}  // namespace deputy
