#include "model/event_reader.h"

#include <simdjson.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <new>

#include "base/json.h"
#include "base/text.h"

namespace deputy::api {

namespace {

namespace dom = simdjson::dom;

dom::object known(Object object) { return std::bit_cast<dom::object>(object); }
dom::element known(Element element) { return std::bit_cast<dom::element>(element); }
Object told(dom::object object) { return std::bit_cast<Object>(object); }
Element told(dom::element element) { return std::bit_cast<Element>(element); }

// Of a document: what a parser holds for it is many times as much.
constexpr std::size_t kMostKept = 64 * 1024;

constexpr std::size_t kEscapeLength = 6;  // \u1234

// The code unit of an escape at the front.
std::optional<unsigned> escaped_unit(std::string_view text) {
  if (text.size() < kEscapeLength || !text.starts_with("\\u")) return std::nullopt;
  unsigned unit = 0;
  const char* end = text.data() + kEscapeLength;
  const auto read = std::from_chars(text.data() + 2, end, unit, 16);
  if (read.ec != std::errc{} || read.ptr != end) return std::nullopt;
  return unit;
}

bool is_high(std::optional<unsigned> unit) { return unit && *unit >= 0xD800 && *unit < 0xDC00; }
bool is_low(std::optional<unsigned> unit) { return unit && *unit >= 0xDC00 && *unit < 0xE000; }

std::string without_lone_surrogates(std::string_view text) {
  if (!text.contains("\\u")) return std::string(text);
  std::string mended;
  while (!text.empty()) {
    std::size_t taken = text.front() == '\\' ? std::min<std::size_t>(2, text.size()) : 1;
    std::string_view instead = text.substr(0, taken);
    const auto unit = escaped_unit(text);
    if (is_high(unit) && is_low(escaped_unit(text.substr(kEscapeLength)))) {
      taken = 2 * kEscapeLength;
      instead = text.substr(0, taken);
    } else if (is_high(unit) || is_low(unit)) {
      taken = kEscapeLength;
      instead = "\\ufffd";
    }
    mended += instead;
    text.remove_prefix(taken);
  }
  return mended;
}

}  // namespace

struct EventReader::Parser {
  dom::parser parser;
};

// A reader within another finds none, and makes its own.
thread_local std::unique_ptr<EventReader::Parser> EventReader::spare_;

EventReader::EventReader() : parser_(std::move(spare_)) {}

EventReader::~EventReader() {
  if (parser_ && parser_->parser.capacity() <= kMostKept) spare_ = std::move(parser_);
}

std::optional<Object> EventReader::read(std::string_view text) {
  if (!parser_) parser_ = std::make_unique<Parser>();
  dom::object object;
  const auto is_read = [&](std::string_view json) {
    const auto error = parser_->parser.parse(json.data(), json.size()).get(object);
    if (error == simdjson::MEMALLOC) {  // a parser that ran out of it once is broken
      parser_.reset();
      throw std::bad_alloc();
    }
    return error == simdjson::SUCCESS;
  };
  if (is_read(text)) return told(object);
  const std::string mended = without_lone_surrogates(to_utf8(text));
  if (mended != text && is_read(mended)) return told(object);
  // A number that no integer holds is no mistake: as a double it can be read.
  const auto value = parse_json(mended);
  if (value && is_read(to_json_text(*value))) return told(object);
  return std::nullopt;
}

std::optional<Element> member_of(Object object, std::string_view key) {
  dom::element element;
  if (known(object).at_key(key).get(element) != simdjson::SUCCESS || element.is_null()) return std::nullopt;
  return told(element);
}

std::string_view text_of(Object object, std::string_view key) {
  std::string_view text;
  return known(object).at_key(key).get(text) == simdjson::SUCCESS ? text : std::string_view{};
}

std::optional<std::string_view> text_in(Element element) {
  std::string_view text;
  if (known(element).get(text) != simdjson::SUCCESS) return std::nullopt;
  return text;
}

bool is_true(Object object, std::string_view key) {
  bool value = false;
  return known(object).at_key(key).get(value) == simdjson::SUCCESS && value;
}

std::optional<Object> object_of(Object object, std::string_view key) {
  dom::object inner;
  if (known(object).at_key(key).get(inner) != simdjson::SUCCESS) return std::nullopt;
  return told(inner);
}

std::vector<Object> objects_of(Object object, std::string_view key) {
  std::vector<Object> objects;
  dom::array list;
  if (known(object).at_key(key).get(list) != simdjson::SUCCESS) return objects;
  for (const dom::element element : list) {
    dom::object inner;
    if (element.get(inner) == simdjson::SUCCESS) objects.push_back(told(inner));
  }
  return objects;
}

std::vector<Member> members_of(Object object) {
  std::vector<Member> members;
  for (const auto [key, value] : known(object)) members.push_back({key, told(value)});
  return members;
}

std::optional<std::int64_t> number_of(Object object, std::string_view key) {
  std::int64_t number = 0;
  if (known(object).at_key(key).get(number) == simdjson::SUCCESS) return number;
  double fraction = 0;
  if (known(object).at_key(key).get(fraction) != simdjson::SUCCESS || std::fabs(fraction) > 9e15) {
    return std::nullopt;
  }
  return static_cast<std::int64_t>(fraction);
}

std::int64_t count_of(Object object, std::string_view key) {
  constexpr std::int64_t kMost = 1'000'000'000'000;
  return std::clamp<std::int64_t>(number_of(object, key).value_or(0), 0, kMost);
}

std::string json_of(Element element) { return simdjson::minify(known(element)); }
std::string json_of(Object object) { return simdjson::minify(known(object)); }

}  // namespace deputy::api
