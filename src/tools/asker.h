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
  // Whether nobody is waited for: then the question need not be on record before its answer.
  virtual bool answers_at_once() const { return false; }
};

}  // namespace deputy
