#include "model/raw_json.h"

#include <simdjson.h>

#include "base/json.h"
#include "base/text.h"

namespace deputy {

namespace {

namespace ondemand = simdjson::ondemand;

std::optional<std::string> spelling(ondemand::object object) {
  std::string_view raw;
  if (object.raw_json().get(raw) != simdjson::SUCCESS) return std::nullopt;
  raw = trimmed(raw);
  if (!parse_json_object(raw)) return std::nullopt;  // it was skipped, not read
  return std::string(raw);
}

}  // namespace

std::optional<std::string> raw_object(std::string_view text, std::string_view pointer) {
  const simdjson::padded_string padded(text);
  ondemand::parser parser;
  ondemand::document document;
  ondemand::object object;
  if (parser.iterate(padded).get(document) != simdjson::SUCCESS) return std::nullopt;
  if (document.at_pointer(pointer).get_object().get(object) != simdjson::SUCCESS) return std::nullopt;
  return spelling(object);
}

std::optional<std::vector<std::string>> raw_objects(std::string_view text, std::string_view pointer) {
  const simdjson::padded_string padded(text);
  ondemand::parser parser;
  ondemand::document document;
  ondemand::array array;
  if (parser.iterate(padded).get(document) != simdjson::SUCCESS) return std::nullopt;
  if (document.at_pointer(pointer).get_array().get(array) != simdjson::SUCCESS) return std::nullopt;
  std::vector<std::string> objects;
  for (auto element : array) {
    ondemand::object object;
    if (element.get_object().get(object) != simdjson::SUCCESS) return std::nullopt;
    auto raw = spelling(object);
    if (!raw) return std::nullopt;
    objects.push_back(*std::move(raw));
  }
  return objects;
}

}  // namespace deputy
