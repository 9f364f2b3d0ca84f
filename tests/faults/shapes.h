// What a good answer looks like in each dialect, event by event, so that a fault can be put anywhere in it.
#pragma once

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "model/dialect.h"

namespace deputy {

inline const std::string kSaid = "Hello, w\xc3\xb6rld \xf0\x9f\x98\x80";

struct Shape {
  std::string name;
  std::function<std::unique_ptr<Dialect>()> dialect;
  std::string content_type;
  std::vector<std::string> text;   // says kSaid
  std::vector<std::string> calls;  // asks for one call of Read
  // The same after some thought, in a form that is wanted back as it came.
  std::vector<std::string> thought = {};
  std::size_t ending = 1;  // so many events at the end; before them nothing is finished
  std::string ping;        // what keeps the connection alive and says nothing; may be empty
};
std::ostream& operator<<(std::ostream& out, const Shape& shape);

const std::vector<Shape>& shapes();
const Shape& shape_of(std::string_view name);

std::string joined(const std::vector<std::string>& events, std::size_t count = std::string::npos);

}  // namespace deputy
