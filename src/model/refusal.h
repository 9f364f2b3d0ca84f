// What a person is told when a provider's policy declined to answer.
#pragma once

#include <string>
#include <string_view>

namespace deputy {

// Either may be empty. On one line, and short.
std::string refusal_text(std::string_view category, std::string_view explanation);
// For a way of stopping that a provider invented after this was written.
std::string unknown_stop_text(std::string_view reason);

}  // namespace deputy
