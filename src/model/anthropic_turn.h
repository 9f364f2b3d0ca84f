// Messages as the Messages API wants them. Whatever stands in a message, what comes out is valid JSON that
// the API accepts: no blank text, no id or name of another shape than it allows, no argument that is no
// object.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "transcript/message.h"

namespace deputy::anthropic {

inline constexpr std::string_view kProvider = "anthropic";

std::string user_turn(const Message& message);
std::string result_turn(const Message& message);
// From text and calls alone, as for a turn of another provider.
std::string assistant_turn(const Message& message);
std::string assistant_turn(std::span<const std::string> blocks);

// The name itself if it has only letters, digits, '-' and '_'; else one of that shape that is its own.
std::string safe_name(std::string_view name);

}  // namespace deputy::anthropic
