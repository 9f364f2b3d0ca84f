// Puts a question to whoever can answer it and waits. delegation/ implements it.
#pragma once

#include "async/stop.h"
#include "async/task.h"
#include "transcript/question.h"

namespace deputy {

class Asker {
 public:
  virtual ~Asker() = default;
  // AnswerKind::nobody where no one can answer, or when stopped.
  virtual Task<Answer> ask(Question question, StopToken stop) = 0;
};

}  // namespace deputy
