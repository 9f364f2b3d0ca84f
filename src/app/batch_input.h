// What a person typed as a batch, as the Delegate tool's own JSON: found valid by that tool's own schema
// before anything starts, so that a mistake is the person's to mend and costs nothing. Pure.
#pragma once

#include <string_view>

#include "app/arguments.h"
#include "base/json.h"

namespace deputy {

inline constexpr std::size_t kMostPromptBytes = 1024 * 1024;
// Of a whole batch as JSON: eight prompts, their escapes, and room for the rest.
inline constexpr std::size_t kMostBatchBytes = 32 * kMostPromptBytes;

// From --task and what goes with it.
Result<json::object> batch_from_tasks(const BatchArguments& arguments);
// From the text of --file; --concurrency and --return win over what stands in it.
Result<json::object> batch_from_file(std::string_view text, const BatchArguments& arguments);

// A prompt on its own: words, in UTF-8, not too many. `whose` begins the message: "the prompt".
Result<void> check_prompt(std::string_view prompt, std::string_view whose);

}  // namespace deputy
