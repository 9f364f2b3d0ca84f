// A simulated world whose trees are replayed: its program has what every program of deputy's has.
#pragma once

#include <utility>

#include "support/dialogue_world.h"

namespace deputy {

class ReplayWorld : public DialogueWorld {
 public:
  explicit ReplayWorld(ActingModel::Play play) : DialogueWorld(std::move(play)) { options.has_web = true; }
};

}  // namespace deputy
