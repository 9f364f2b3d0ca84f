// Any tree, with anything happening to it: a seed decides what its agents do, what is allowed, whether its
// person is there, what they say and when, where its process dies, how the clock jumps and what the machine
// fails to do.
#pragma once

#include <cstdint>
#include <string>

#include "figures.h"
#include "machine.h"
#include "watcher.h"

namespace deputy {

class AnyTree {
 public:
  explicit AnyTree(std::uint64_t seed);
  // To its end, in as many lives as that takes; what is amiss on the way is a failure of the test.
  Figures grow();
  std::string journal() const;

 private:
  bool live(bool may_die);
  Life::Options options_of_life(bool may_die);
  void begin(Life& life, bool may_die);
  Result<Report> run(Life& life);
  RootBrief brief(const Life& life) const;
  void happen_to(Life& life, bool may_die);
  void happen(Life& life, std::uint64_t kind, std::uint64_t which);
  void jump(Life& life, Duration by);
  void look_at_waits_later(Life& life);
  void answer_later(Life& life, const Event& event);
  Figures figures();

  std::uint64_t seed_;
  Chance chance_;
  TreeLimits limits_;
  Rules rules_;
  Attendance attendance_;
  SimWorld world_;
  Bank bank_;
  Machine machine_;
  Watcher watcher_{world_, limits_, bank_};
  Duration away_{};  // how far the wall clock has come before a life
  bool is_left_ = false;
  bool is_look_due_ = false;
  Figures figures_;
};

}  // namespace deputy
