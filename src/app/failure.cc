#include "app/failure.h"

#include <fmt/format.h>

#include "base/text.h"

namespace deputy {

std::string error_line(const Error& error) {
  const std::string text =
      error.advice.empty() ? error.message : fmt::format("{}; {}", error.message, error.advice);
  return fmt::format("deputy: {}", made_visible(on_one_line(to_utf8(text))));
}

}  // namespace deputy
