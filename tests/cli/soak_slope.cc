#include "soak_slope.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace deputy {
namespace {

// Of Student's distribution, by the looks to spare: exceeded once in a thousand times.
constexpr std::array kStandardErrors{318.31, 22.33, 10.21, 7.17, 5.89, 5.21, 4.79, 4.50, 4.30, 4.14};

// Beyond these it is near the normal distribution's, by the first terms of its expansion there.
double standard_errors(int spare) {
  if (static_cast<std::size_t>(spare) <= kStandardErrors.size())
    return kStandardErrors.at(static_cast<std::size_t>(spare) - 1);
  constexpr double kNormal = 3.0902;
  constexpr double kSquare = kNormal * kNormal;
  const double part = 1.0 / spare;
  const double first = (kSquare + 1) / 4;
  const double second = ((5 * kSquare + 16) * kSquare + 3) / 96;
  const double third = (((3 * kSquare + 19) * kSquare + 17) * kSquare - 15) / 384;
  return kNormal * (1 + part * (first + part * (second + part * third)));
}

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

double Slope::margin() const { return spare > 0 ? error * standard_errors(spare) : 0; }

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
