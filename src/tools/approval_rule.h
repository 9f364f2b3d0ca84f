// What a person can say once instead of being asked again.
#pragma once

#include <optional>
#include <string>

#include "tools/tool.h"

namespace deputy {

// The narrowest rule that, beside those in force, lets this call pass, as it would be written: of a chain of
// commands that of the one that none of them allows. Nothing where none can be written that means this call
// (a wildcard in it would allow others too, and what it is fed or a cd before it is no part of a rule), or
// where another rule would want to be asked all the same.
std::optional<std::string> rule_that_allows(const Tool& tool, const json::object& arguments,
                                            const ToolContext& context, const Rules& in_force);

}  // namespace deputy
