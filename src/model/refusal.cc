#include "model/refusal.h"

#include <fmt/format.h>

#include "base/text.h"

namespace deputy {

namespace {

constexpr std::size_t kMaxCharacters = 200;

}  // namespace

std::string refusal_text(std::string_view category, std::string_view explanation) {
  std::string why = category.empty() ? "" : fmt::format(" ({})", on_one_line(category));
  if (!explanation.empty()) why.append(": ").append(on_one_line(explanation));
  return fmt::format("the provider declined to answer{}; put the task differently or choose another model",
                     shorten(why, kMaxCharacters));
}

std::string unknown_stop_text(std::string_view reason) {
  return fmt::format("the provider stopped for a reason that is not known here: {}",
                     shorten(on_one_line(reason), kMaxCharacters));
}

}  // namespace deputy
