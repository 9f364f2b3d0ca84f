// OpenAI's Responses, spoken without state on their side: nothing is stored, and a turn goes back as the
// items that it came in, encrypted reasoning among them. Base addresses end in /v1.
#pragma once

#include <memory>

#include "model/dialect.h"

namespace deputy {

std::unique_ptr<Dialect> openai_responses_dialect();

}  // namespace deputy
