// Ollama in its own tongue, /api/chat. Its compatible one has no field for the size of the context, and
// leaves out the oldest messages without a word when they do not fit; here it is told not to. Base addresses
// end after the port.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "model/dialect.h"

namespace deputy {

// The context that the server is to give a model; where nothing is said, it decides by its memory.
using WindowOf = std::function<std::optional<std::int64_t>(const ModelName&)>;

std::unique_ptr<Dialect> ollama_dialect(WindowOf window = {});

}  // namespace deputy
