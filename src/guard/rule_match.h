// Whether a call is meant by a pattern. Where it cannot be told the answer is maybe: nobody may be allowed,
// and everybody must be denied, by a maybe. `named` is less: a word of the call names what is meant, or an
// option may, and nobody knows what becomes of it. It allows nothing either, and is asked about where it
// would be denied.
#pragma once

namespace deputy {

enum class RuleMatch { no, named, maybe, yes };

}  // namespace deputy
