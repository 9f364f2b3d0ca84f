// Whether something grew while it was looked at: a straight line through the looks, and how sure that is.
// Looks are compared only with those of their kind: what a process holds early in a tree says nothing of one
// late in another. Pure.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace deputy {

struct Look {
  double hours = 0;
  double value = 0;
  int kind = 0;
};

struct Slope {
  double by_hour = 0;
  double error = 0;  // standard
  int spare = 0;     // looks beyond those that any line goes through: without one nothing is known

  // By what noise alone is off once in a thousand times, however many looks there are.
  double margin() const;
  // Whether it is no more than so much, or than what noise brings about where nothing grows.
  bool is_flat(double most) const { return spare > 0 && by_hour <= std::max(most, margin()); }
  bool is_above(double most) const { return spare > 0 && by_hour - margin() > most; }
  bool is_below(double most) const { return spare > 0 && by_hour + margin() < most; }
};

Slope slope_of(const std::vector<Look>& looks);

// For people: the slope, and whether so much an hour would have shown. `unit` stands behind figures.
std::string to_text(const Slope& slope, double most, std::string_view unit);

}  // namespace deputy
