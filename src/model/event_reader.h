// One event of a stream as JSON, read with simdjson. Reading never fails loudly: what is absent, null or of
// another type is empty, as servers that call themselves compatible differ in all of that.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace deputy::api {

// Where a value stands in what was read; good until the next read. simdjson's own types would cost every
// source that sees them seconds to compile.
struct Element {
  const void* document = nullptr;
  std::size_t place = 0;
};
struct Object {
  const void* document = nullptr;
  std::size_t place = 0;
};
struct Member {
  std::string_view key;
  Element value;
};

// Made where an event is taken apart, not kept for a stream: what it reads with is large, and the streams of
// a thread, of which there may be thousands, have it by turns.
class EventReader {
 public:
  EventReader();
  ~EventReader();
  EventReader(const EventReader&) = delete;

  // The object that the text spells, valid until the next read and as long as the reader; nothing where it
  // spells none. Bytes that are not UTF-8, halves of surrogate pairs and numbers without measure are mended:
  // what is read is always valid.
  std::optional<Object> read(std::string_view text);

 private:
  struct Parser;
  static thread_local std::unique_ptr<Parser> spare_;
  std::unique_ptr<Parser> parser_;  // made when it is first needed
};

std::string_view text_of(Object object, std::string_view key);
// Empty where it is no text.
std::optional<std::string_view> text_in(Element element);
bool is_true(Object object, std::string_view key);
std::optional<Object> object_of(Object object, std::string_view key);
// The objects of a list; what else is in it is passed over.
std::vector<Object> objects_of(Object object, std::string_view key);
std::vector<Member> members_of(Object object);
std::optional<std::int64_t> number_of(Object object, std::string_view key);
// A number of tokens: never negative, never so large that adding up could overflow.
std::int64_t count_of(Object object, std::string_view key);
// The member as it is unless it is absent or null.
std::optional<Element> member_of(Object object, std::string_view key);
std::string json_of(Element element);
std::string json_of(Object object);

}  // namespace deputy::api
