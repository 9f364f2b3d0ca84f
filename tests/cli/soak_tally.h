// What came of a tree of the soak, by the events that it left. Pure.
#pragma once

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

namespace deputy {

// What a tree's events lack, and what they have too often.
struct Tally {
  int lost = 0;
  int duplicated = 0;
  std::set<std::string> made;  // the files of which a child was told that its command had written them
  void add(int times, int expected) {
    lost += std::max(0, expected - times);
    duplicated += std::max(0, times - expected);
  }
};

// Every note of every child once, and as many completed sessions as there are.
Tally tally_of(std::string_view exported);

}  // namespace deputy
