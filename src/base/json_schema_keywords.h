// What JsonSchema does to a schema before it is compiled: it must hold only keywords that are enforced, refer
// only to itself and not go round in circles. Annotations are dropped, "pattern" and "multipleOf" get names
// that the validator leaves to us.
#pragma once

#include "base/json.h"

namespace deputy {

inline constexpr std::size_t kMaxSchemaNodes = 5000;
inline constexpr std::size_t kMaxSchemaChain = 32;  // schemas that lead to one another for the same value
inline constexpr std::string_view kPatternKeyword = "x-deputy-pattern";
inline constexpr std::string_view kMultipleKeyword = "x-deputy-multiple";

Result<json::value> prepare_schema(const json::value& schema);

// As near as doubles can tell: 0.3 is a multiple of 0.1. The step is above 0.
bool is_multiple(double number, double step);

}  // namespace deputy
