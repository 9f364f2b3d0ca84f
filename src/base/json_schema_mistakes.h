// Says what is wrong with a value that a schema refused, in words a model can act on: "tasks[2].label: must
// be at most 32 characters (it has 40)". It looks at the keywords that are used most; what it cannot explain
// it leaves out.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"

namespace deputy {

inline constexpr std::size_t kMaxMistakes = 10;

// `prepared` is what prepare_schema made.
std::vector<std::string> explain_mistakes(const json::value& prepared, const json::value& value);

// "tasks[2].label"; a name that is not a plain word is quoted: tasks["a b"].
std::string path_to_member(std::string_view path, std::string_view name);
std::string path_to_element(std::string_view path, std::size_t index);

}  // namespace deputy
