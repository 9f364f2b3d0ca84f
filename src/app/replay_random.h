// The chance of a replay. Sessions get the ids again that they had: an estimate of what a request takes
// counts the tokens of the ids in it.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/replay_places.h"
#include "base/random.h"
#include "transcript/event.h"

namespace deputy {

class ReplayedRandom final : public Random {
 public:
  // `created`: the places of sessions as they will come to their ids; those that are not in it, as they did
  // then.
  ReplayedRandom(const std::vector<Event>& then, const std::vector<std::string>& created);
  std::uint64_t next() override;
  // Those of sessions that are not there yet come next.
  void go_on(const Places& there);
  // The uuid of a word of the person's comes next.
  void say(std::string_view uuid);
  // The places of the sessions that came to ids of then, in that order.
  std::vector<std::string> drawn_by(const Places& now) const;

 private:
  std::vector<std::pair<SessionId, Uuid>> ids_;  // in the order in which they are drawn
  std::deque<std::uint64_t> drawn_;
  SeededRandom further_{1};
};

}  // namespace deputy
