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

json::object error_json(std::string_view code, std::string_view message, std::string_view advice) {
  json::object error{{"code", code}, {"message", to_utf8(message)}};
  if (!advice.empty()) error["hint"] = to_utf8(advice);
  return error;
}

json::object to_json(const CommandFailure& failure) {
  const Error& error = failure.error;
  return {{"status", word_for(failure.status)},
          {"error", error_json(name_of(error.code), error.message, error.advice)}};
}

}  // namespace deputy
