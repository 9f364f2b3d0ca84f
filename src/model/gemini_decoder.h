// Reads the chunks of streamGenerateContent into a Reply. There is no terminal event: the answer is whole
// when it ends and its last words came with a finishReason. Parts go back as they came, signatures on the
// parts they came with; calls of a turn that was cut off or declined are left out of its message.
#pragma once

#include <memory>

#include "model/dialect.h"

namespace deputy::gemini {

inline constexpr std::size_t kMaxParts = 1024;  // of an answer, runs of text counted once

std::unique_ptr<ReplyDecoder> make_decoder();

}  // namespace deputy::gemini
