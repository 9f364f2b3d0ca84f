// An assistant's turn as a message of Chat Completions.
#pragma once

#include <string_view>

#include "base/json.h"
#include "model/openai_chat.h"

namespace deputy::api {

constexpr std::string_view name_of(ChatFlavour flavour) {
  return flavour == ChatFlavour::openai ? "openai-chat" : "compatible";
}

json::object chat_turn(const Message& message, ChatFlavour flavour);

}  // namespace deputy::api
