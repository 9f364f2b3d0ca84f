// The chance of a replay. Sessions get the ids again that they had: an estimate of what a request takes
// counts the tokens of the ids in it.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/replay_places.h"
#include "base/random.h"
#include "transcript/event.h"

namespace deputy {

class ReplayedRandom final : public Random {
 public:
  // `created`: the places of sessions as they will come to ids, an empty one for ids that come to nothing,
  // since their session is refused or lost; those that are not in it, as they did then.
  ReplayedRandom(const std::vector<Event>& then, const std::vector<std::string>& created);
  std::uint64_t next() override;
  // Those of sessions that are not there yet come next.
  void go_on(const Places& there);
  // The uuid of a word of the person's comes next.
  void say(std::string_view uuid);
  // The places of these sessions in the order in which they came to ids.
  std::vector<std::string> drawn_by(const Places& now) const;

 private:
  // Of one session.
  struct Ids {
    std::string suffix;  // of its id
    Uuid uuid;
    bool is_of_then = true;
    bool is_drawn = false;
  };
  struct Draw {
    std::uint64_t number = 0;
    std::optional<std::size_t> begins = {};  // these ids
  };
  Ids further_ids();
  void add(std::size_t which);

  std::vector<Ids> ids_;  // in the order in which they are drawn
  std::deque<Draw> coming_;
  std::vector<std::size_t> drawn_;  // which ids, each time
  SeededRandom further_{1};
};

}  // namespace deputy
