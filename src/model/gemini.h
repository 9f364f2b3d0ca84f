// The generateContent API of Google. The base address is the host alone, as in GEMINI_BASE_URL.
#pragma once

#include <memory>

#include "model/dialect.h"

namespace deputy {

std::unique_ptr<Dialect> gemini_dialect();

}  // namespace deputy
