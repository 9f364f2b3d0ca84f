// Messages as generateContent wants them. An id goes back only if the provider gave it: ids that were made
// here begin with kLocalId.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "transcript/message.h"

namespace deputy::gemini {

inline constexpr std::string_view kProvider = "gemini";
inline constexpr std::string_view kLocalId = "local_";

std::string user_turn(const Message& message);
std::string result_turn(const Message& message);
// From text and calls alone, as for a turn of another provider.
std::string model_turn(const Message& message);
std::string model_turn(std::span<const std::string> parts);

std::string text_part(std::string_view text);
// The signature may be empty.
std::string call_part(const Call& call, std::string_view signature);

}  // namespace deputy::gemini
