// Reads the events of the Messages API into a Reply. Events out of order, a missing end and errors in the
// middle are Failures; what is not known is carried along. The calls of a turn that was cut off or declined
// are left out of its message, as they are never run and the API takes no call back without its result.
#pragma once

#include <memory>

#include "model/dialect.h"

namespace deputy::anthropic {

inline constexpr std::size_t kMaxBlocks = 1024;  // of an answer

std::unique_ptr<ReplyDecoder> make_decoder();

}  // namespace deputy::anthropic
