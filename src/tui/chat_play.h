// For tests: a chat at which somebody types.
#pragma once

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <string>
#include <string_view>
#include <utility>

#include "tui/chat_story.h"

namespace deputy {

template <class Wanted>
const Wanted* only(const Intents& intents) {
  return intents.size() == 1 ? std::get_if<Wanted>(&intents.front()) : nullptr;
}

// Of so many lines, each with its number.
inline std::string script_of(int lines) {
  std::string text = "Run in /w:";
  for (int line = 1; line < lines; ++line) text += fmt::format("\nstep {}.", line);
  return text;
}

class ChatPlay : public testing::Test {
 protected:
  Intents key(KeyName name, std::string text = {}) { return apply_key(story.state, {name, std::move(text)}); }
  Intents type(std::string_view text) {
    Intents last;
    for (const char c : text) last = key(KeyName::text, std::string(1, c));
    return last;
  }
  ChatStory story;
};

}  // namespace deputy
