#include "app/failure.h"

#include <fmt/format.h>

#include "base/text.h"

namespace deputy {

std::string error_line(const Error& error) {
  std::string text = error.message;
  if (!error.advice.empty()) {
    while (text.ends_with('.')) text.pop_back();  // a sentence, where others are half of one
    text += "; " + error.advice;
  }
  return fmt::format("deputy: {}", made_visible(on_one_line(to_utf8(text))));
}

}  // namespace deputy
