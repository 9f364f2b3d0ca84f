// A rule added to a person's settings, as they would write it: the rest of the file stays as it is, comments
// and all. Pure; what it yields was read again and says what was there before and the rule.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "guard/rules.h"

namespace deputy {

Result<std::string> with_rule(std::string_view settings, const Rule& rule);

}  // namespace deputy
