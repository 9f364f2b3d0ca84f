#include "soak_slope.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace deputy {
namespace {

// Of Student's distribution, by the looks to spare: exceeded once in a thousand times. Beyond the last it
// falls to 3.1.
constexpr std::array kStandardErrors{318.3, 22.3, 10.2, 7.17, 5.89, 5.21, 4.79, 4.50, 4.30, 4.14};

struct Middle {
  double hours = 0;
  double value = 0;
  int looks = 0;
};

std::map<int, Middle> middles_of(const std::vector<Look>& looks) {
  std::map<int, Middle> middles;
  for (const Look& look : looks) {
    Middle& middle = middles[look.kind];
    middle.hours += look.hours;
    middle.value += look.value;
    ++middle.looks;
  }
  for (auto& [kind, middle] : middles) {
    middle.hours /= middle.looks;
    middle.value /= middle.looks;
  }
  return middles;
}

}  // namespace

double Slope::margin() const {
  if (spare <= 0) return 0;
  return error * kStandardErrors.at(std::min(static_cast<std::size_t>(spare), kStandardErrors.size()) - 1);
}

Slope slope_of(const std::vector<Look>& looks) {
  const auto middles = middles_of(looks);
  double xx = 0;
  double xy = 0;
  double yy = 0;
  for (const Look& look : looks) {
    const Middle& middle = middles.at(look.kind);
    const double x = look.hours - middle.hours;
    const double y = look.value - middle.value;
    xx += x * x;
    xy += x * y;
    yy += y * y;
  }
  const int spare = static_cast<int>(looks.size()) - static_cast<int>(middles.size()) - 1;
  if (spare <= 0 || xx == 0) return {};
  const double left = std::max(0.0, yy - xy * xy / xx);
  return {.by_hour = xy / xx, .error = std::sqrt(left / spare / xx), .spare = spare};
}

std::string to_text(const Slope& slope, double most, std::string_view unit) {
  if (slope.spare <= 0) return "not told, by too few looks";
  const std::string figures = fmt::format("{:+.2f}{}/h (±{:.2f})", slope.by_hour, unit, slope.error);
  if (slope.is_above(most) || slope.is_below(most)) return figures;
  return fmt::format("{}, too short or too noisy to tell: it may be up to {:+.2f}{}/h", figures,
                     slope.by_hour + slope.margin(), unit);
}

}  // namespace deputy
