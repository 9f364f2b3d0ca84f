// Where questions wait for whoever can answer them. The person's surface hears of each through the event
// stream and answers by id; where nobody is there, or everything was approved beforehand, the answer comes at
// once.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "async/waiter.h"
#include "tools/asker.h"

namespace deputy {

// What a person wrote: "yes" and "no" to a permission, anything to a question that wants words.
Answer answer_in_words(const Question& question, const std::string& text);

enum class Attendance { person, nobody, approves_all };

class QuestionDesk final : public Asker {
 public:
  explicit QuestionDesk(Attendance attendance) : attendance_(attendance) {}
  Task<Answer> ask(Question question, StopToken stop) override;
  // False where no such question waits.
  bool answer(const std::string& question_id, Answer answer);
  std::vector<Question> waiting() const;

 private:
  struct Held {
    Question question;
    Waiter<Answer> waiter;
  };
  Attendance attendance_;
  std::map<std::string, Held> held_;
};

}  // namespace deputy
