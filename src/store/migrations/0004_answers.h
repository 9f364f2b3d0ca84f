// Which question an answer is to: one that was acted on before a crash must not answer the next.
#pragma once

#include <string_view>

namespace deputy {

inline constexpr std::string_view k0004Answers = R"sql(
ALTER TABLE inbox ADD COLUMN question TEXT NOT NULL DEFAULT '';
)sql";

}  // namespace deputy
