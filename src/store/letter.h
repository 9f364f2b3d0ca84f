// A word from another process to whoever holds a tree. It lies in the inbox until it was acted on, for as
// long as it takes somebody to resume the tree.
#pragma once

#include <cstdint>
#include <string>

#include "transcript/ids.h"

namespace deputy {

enum class LetterKind { cancel, answer, nudge };

struct Letter {
  std::int64_t id = 0;  // the store's, in the order of posting
  SessionId tree;
  SessionId session;
  LetterKind kind = LetterKind::nudge;
  std::string text = {};
  std::string question = {};  // which an answer is to, by its id
  bool operator==(const Letter&) const = default;
};

}  // namespace deputy
