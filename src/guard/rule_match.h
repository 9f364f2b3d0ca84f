// Whether a call is meant by a pattern. Where it cannot be told the answer is maybe: nobody may be allowed,
// and everybody must be denied, by a maybe.
#pragma once

namespace deputy {

enum class RuleMatch { no, maybe, yes };

}  // namespace deputy
