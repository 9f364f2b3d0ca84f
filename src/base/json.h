// JSON as boost::json values, with the few questions that everybody asks of them. Parsing never throws: a
// depth of more than 64, too many bytes or invalid UTF-8 is an Error like any other mistake.
#pragma once

#include <boost/json.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace deputy {

namespace json = boost::json;

inline constexpr std::size_t kMaxJsonDepth = 64;
inline constexpr std::size_t kMaxJsonBytes = 64 * 1024 * 1024;

Result<json::value> parse_json(std::string_view text, json::storage_ptr storage = {});
// Parses and insists on an object.
Result<json::object> parse_json_object(std::string_view text, json::storage_ptr storage = {});
// Compact; text that is not UTF-8 is mended, so what is written is always valid.
std::string to_json_text(const json::value& value);
// Two spaces of indentation, a line per member.
std::string to_pretty_json(const json::value& value);
// "an object", "a string", …: what was found, for messages.
std::string_view kind_name(const json::value& value);

// The member if it is there and of that type, else nothing.
const json::value* find(const json::object& object, std::string_view key);
std::optional<std::string> string_at(const json::object& object, std::string_view key);
std::optional<std::int64_t> integer_at(const json::object& object, std::string_view key);
std::optional<double> number_at(const json::object& object, std::string_view key);
std::optional<bool> bool_at(const json::object& object, std::string_view key);
const json::object* object_at(const json::object& object, std::string_view key);
const json::array* array_at(const json::object& object, std::string_view key);

std::string string_or(const json::object& object, std::string_view key, std::string_view otherwise);
std::int64_t integer_or(const json::object& object, std::string_view key, std::int64_t otherwise);

}  // namespace deputy
