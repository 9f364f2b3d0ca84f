// Agents that chance plays. What one says follows from the seed and from all that it was told, so that a life
// after a crash goes on as the one before would have.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/random.h"
#include "support/acting_model.h"

namespace deputy {

// Dice that fall the same way whenever they are thrown for the same thing.
class Chance {
 public:
  Chance(std::uint64_t seed, std::string_view thrown_for);
  std::uint64_t below(std::uint64_t bound) { return random_.below(bound); }
  bool one_in(std::uint64_t bound) { return random_.below(bound) == 0; }

 private:
  SeededRandom random_;
};

// Each command that they run is another one, and begins with this.
inline constexpr std::string_view kCommand = "count ";

// Of which two fill the context of the one whose conversation is compacted.
inline constexpr std::string_view kLongFile = "long.txt";

// What a model of theirs throws that is broken itself.
inline constexpr std::string_view kBugOfThePlay = "a bug";

// They read, note, write, run commands, delegate in every way, ask, answer, look after and end what they
// started, report well and badly, go round in circles, fall silent, break and are turned down.
ActingModel::Play chance_play(std::uint64_t seed);
// What they hand work to, besides what is built in.
std::vector<Profile> chance_profiles();

}  // namespace deputy
