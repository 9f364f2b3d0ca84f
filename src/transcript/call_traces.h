// What a call asked before and was answered, in what it left on record. Its permission and what it asks
// itself have one id: only their kinds tell them apart.
#pragma once

#include <vector>

#include "transcript/event.h"

namespace deputy {

// The last of that kind; null where there is none.
const Question* asked_before(const std::vector<Fact>& traces, QuestionKind kind);
const Answer* answered_before(const std::vector<Fact>& traces, QuestionKind kind);

}  // namespace deputy
