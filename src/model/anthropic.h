// The Messages API of Anthropic. The base address is the host alone, as in ANTHROPIC_BASE_URL.
#pragma once

#include <memory>

#include "model/dialect.h"

namespace deputy {

std::unique_ptr<Dialect> anthropic_dialect();

}  // namespace deputy
