// How many tokens a request will come to, before it is sent. Pure. The first request of a conversation is
// estimated from its text alone, by how the model's family cuts text and frames tools; once a provider has
// counted, only what was added since is estimated, in the measure of its own count.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "model/provider.h"

namespace deputy {

// What a text comes to in an average tokenizer.
std::int64_t tokens_in(std::string_view text);

// System prompt and tools.
std::int64_t estimated_tokens(const RequestPrefix& prefix);
std::int64_t estimated_tokens(const ModelName& model, std::span<const Message> messages);

// Once for each message that is told at every step.
MessageWeight weight_of(const Message& message);

// The whole of a request whose prefix comes to `prefix_tokens`. What was weighed before is not weighed again.
std::int64_t estimated_input(std::int64_t prefix_tokens, const ModelName& model,
                             std::span<const Message> messages, const std::optional<Measured>& measured);
std::int64_t estimated_input(const Request& request);

}  // namespace deputy
