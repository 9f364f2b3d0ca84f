// A simulated world whose trees are replayed: its program has what every program of deputy's has.
#pragma once

#include <utility>

#include "delegation/giving_up.h"
#include "support/dialogue_world.h"
#include "support/run.h"

namespace deputy {

class ReplayWorld : public DialogueWorld {
 public:
  explicit ReplayWorld(ActingModel::Play play) : DialogueWorld(std::move(play)) { options.has_web = true; }

  // As `deputy sessions cancel` does where nobody runs the tree, so long after its first life began.
  void give_up(Duration after) {
    SimLoop loop(1);
    loop.manual_clock().jump_wall(after);
    MemoryStore store(loop, world.memory);
    const auto given_up =
        deputy::run(loop, deputy::give_up(store, sessions().front().id, loop.clock().wall()));
    EXPECT_TRUE(given_up) << given_up.error().message;
  }
};

}  // namespace deputy
