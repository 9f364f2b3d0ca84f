// Where questions wait for whoever can answer them. The person's surface hears of each through the event
// stream and answers by id; where nobody is there, or everything was approved beforehand, the answer comes at
// once.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "async/waiter.h"
#include "tools/asker.h"

namespace deputy {

// What a person wrote where permission is asked: "y", "yes", "n", "no", or "no" with a reason behind it;
// nothing when it is none of these.
std::optional<Answer> answer_from(std::string_view line);

// What a person wrote to whatever is asked. To a permission anything that answer_from does not know is no
// approval, but the reason of a refusal.
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
