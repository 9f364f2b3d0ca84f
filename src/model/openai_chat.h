// OpenAI's Chat Completions, and the many servers that speak it more or less: llama.cpp, vLLM, LM Studio,
// OpenRouter, Groq, DeepSeek and others. Base addresses end in /v1.
#pragma once

#include <memory>

#include "model/dialect.h"

namespace deputy {

enum class ChatFlavour {
  openai,      // provider "openai-chat"
  compatible,  // provider "compatible": an older name for the output cap, arguments that the server parses
};

std::unique_ptr<Dialect> openai_chat_dialect(ChatFlavour flavour);

}  // namespace deputy
