#include "base/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <exception>
#include <limits>

#include "base/text.h"

namespace deputy {
namespace {

std::unexpected<Error> not_json(std::string_view text, std::size_t at, std::string_view reason) {
  const std::string_view before = text.substr(0, at);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
  return fail(ErrorCode::invalid, fmt::format("not valid JSON: {} at line {}, column {}", reason, line,
                                              utf8_length(before.substr(line_start)) + 1));
}

std::string reason_for(const boost::system::error_code& error) {
  if (error == json::error::too_deep) return fmt::format("nested more than {} deep", kMaxJsonDepth);
  if (error == json::error::incomplete) return "it ends too early";
  return error.message();
}

// JSON cannot spell an infinity, and nothing that follows expects one. Boost.JSON reads one from 1e400 and
// makes 0e400 no number at all.
void make_finite(json::value& value, const json::value& instead_of_nan) {
  if (auto* array = value.if_array()) {
    for (json::value& element : *array) make_finite(element, instead_of_nan);
  } else if (auto* object = value.if_object()) {
    for (auto& member : *object) make_finite(member.value(), instead_of_nan);
  } else if (value.is_double() && std::isnan(value.get_double())) {
    value = instead_of_nan;
  } else if (value.is_double() && std::isinf(value.get_double())) {
    value = std::copysign(std::numeric_limits<double>::max(), value.get_double());
  }
}

std::string serialized(const json::value& value) {
  std::string text = json::serialize(value);
  if (!text.contains("Infinity") && !text.contains("NaN")) return text;
  json::value finite = value;
  make_finite(finite, nullptr);
  return json::serialize(finite);
}

void write_pretty(const json::value& value, std::size_t indent, std::string& out) {
  const auto new_line = [&out](std::size_t depth) { out.append(1, '\n').append(depth * 2, ' '); };
  if (const auto* array = value.if_array(); array != nullptr && !array->empty()) {
    out += '[';
    for (const json::value& element : *array) {
      if (&element != array->data()) out += ',';
      new_line(indent + 1);
      write_pretty(element, indent + 1, out);
    }
    new_line(indent);
    out += ']';
  } else if (const auto* object = value.if_object(); object != nullptr && !object->empty()) {
    out += '{';
    bool first = true;
    for (const auto& [key, member] : *object) {
      if (!first) out += ',';
      first = false;
      new_line(indent + 1);
      out += json::serialize(json::string_view(key));
      out += ": ";
      write_pretty(member, indent + 1, out);
    }
    new_line(indent);
    out += '}';
  } else {
    out += serialized(value);
  }
}

}  // namespace

Result<json::value> parse_json(std::string_view text, json::storage_ptr storage) {
  if (text.size() > kMaxJsonBytes) {
    return fail(ErrorCode::exhausted,
                fmt::format("the JSON text is too long: {} bytes, at most {} are read",
                            with_thousands(text.size()), with_thousands(kMaxJsonBytes)));
  }
  try {
    std::array<unsigned char, 4096> scratch;  // most texts are short, and need no more while they are read
    json::parser parser({}, json::parse_options{.max_depth = kMaxJsonDepth}, scratch.data(), scratch.size());
    parser.reset(std::move(storage));
    boost::system::error_code error;
    std::size_t used = parser.write_some(text.data(), text.size(), error);
    if (error) return not_json(text, used, reason_for(error));
    if (used < text.size()) return not_json(text, used, "something follows the end of the value");
    json::value value = parser.release();
    make_finite(value, 0.0);
    return value;
  } catch (const std::exception& exception) {
    return fail(ErrorCode::invalid, fmt::format("the JSON text cannot be read: {}", exception.what()));
  }
}

Result<json::object> parse_json_object(std::string_view text, json::storage_ptr storage) {
  TRY(json::value value, parse_json(text, std::move(storage)));
  if (!value.is_object()) {
    return fail(ErrorCode::invalid, fmt::format("expected a JSON object, found {}", kind_name(value)));
  }
  return std::move(value.get_object());
}

// Bytes that are not UTF-8 can stand inside strings only, and mending keeps the quotes and escapes around
// them.
std::string to_json_text(const json::value& value) {
  std::string text = serialized(value);
  if (!is_utf8(text)) return to_utf8(text);
  return text;
}

std::string to_pretty_json(const json::value& value) {
  std::string text;
  write_pretty(value, 0, text);
  return to_utf8(text);
}

std::string_view kind_name(const json::value& value) {
  switch (value.kind()) {
    case json::kind::null:
      return "null";
    case json::kind::bool_:
      return "a boolean";
    case json::kind::int64:
    case json::kind::uint64:
    case json::kind::double_:
      return "a number";
    case json::kind::string:
      return "a string";
    case json::kind::array:
      return "an array";
    case json::kind::object:
      return "an object";
  }
  return "null";
}

const json::value* find(const json::object& object, std::string_view key) { return object.if_contains(key); }

std::optional<std::string> string_at(const json::object& object, std::string_view key) {
  const json::value* value = find(object, key);
  if (value == nullptr || !value->is_string()) return std::nullopt;
  return std::string(value->get_string());
}

std::optional<std::int64_t> integer_at(const json::object& object, std::string_view key) {
  const json::value* value = find(object, key);
  if (value == nullptr) return std::nullopt;
  if (value->is_int64()) return value->get_int64();
  // Models and JavaScript write 3 as 3.0; beyond 2^53 a double no longer says which integer was meant.
  constexpr double kExact = 9007199254740992.0;
  if (value->is_double()) {
    const double number = value->get_double();
    if (std::trunc(number) == number && std::fabs(number) <= kExact) return static_cast<std::int64_t>(number);
  }
  return std::nullopt;
}

std::optional<double> number_at(const json::object& object, std::string_view key) {
  const json::value* value = find(object, key);
  if (value == nullptr || !value->is_number()) return std::nullopt;
  return value->to_number<double>();
}

std::optional<bool> bool_at(const json::object& object, std::string_view key) {
  const json::value* value = find(object, key);
  if (value == nullptr || !value->is_bool()) return std::nullopt;
  return value->get_bool();
}

const json::object* object_at(const json::object& object, std::string_view key) {
  const json::value* value = find(object, key);
  return value == nullptr ? nullptr : value->if_object();
}

const json::array* array_at(const json::object& object, std::string_view key) {
  const json::value* value = find(object, key);
  return value == nullptr ? nullptr : value->if_array();
}

std::string string_or(const json::object& object, std::string_view key, std::string_view otherwise) {
  return string_at(object, key).value_or(std::string(otherwise));
}

std::int64_t integer_or(const json::object& object, std::string_view key, std::int64_t otherwise) {
  return integer_at(object, key).value_or(otherwise);
}

}  // namespace deputy
