// What holds a call until somebody answers: a child asking, or a permission that a person must give.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "transcript/ids.h"
#include "transcript/message.h"

namespace deputy {

enum class QuestionKind { permission, to_parent, to_person };

struct Question {
  std::string id;
  QuestionKind kind = QuestionKind::permission;
  SessionId asker;
  std::string label;  // of the asker
  std::string agent;
  std::string text;
  std::vector<std::string> suggestions;
  std::optional<WallTime> until = {};  // when it counts as unanswered; a person has all the time
  bool operator==(const Question&) const = default;
};

enum class AnswerKind { approved, refused, text, nobody };

struct Answer {
  AnswerKind kind = AnswerKind::nobody;
  std::string text;             // the answer, or the reason of a refusal, or why there is none
  Source by = Source::runtime;  // who gave it
  bool operator==(const Answer&) const = default;
};

std::string_view name_of(QuestionKind kind);
std::string_view name_of(AnswerKind kind);

}  // namespace deputy
