// A compiled JSON Schema (draft 7). What is wrong with a value comes back as text that tells a model how to
// put it right: where, what was expected, what was found. Keywords this cannot enforce are refused when it is
// compiled.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/json.h"

namespace deputy {

class JsonSchema {
 public:
  static Result<JsonSchema> compile(const json::value& schema);
  JsonSchema(JsonSchema&&) noexcept;
  JsonSchema& operator=(JsonSchema&&) noexcept;
  ~JsonSchema();

  // Empty when the value is valid; else one line a mistake, at most ten.
  std::vector<std::string> mistakes_in(const json::value& value) const;

 private:
  struct Compiled;
  explicit JsonSchema(std::unique_ptr<Compiled> compiled);
  std::unique_ptr<Compiled> compiled_;
};

}  // namespace deputy
