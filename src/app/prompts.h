// Questions on the terminal, one at a time: what exactly will happen, who asks, and yes or no; or what an
// agent wants to know, with its suggestions. The loop goes on while the person thinks. What was typed before
// a question was shown never answers it.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "app/progress.h"
#include "app/streams.h"
#include "async/channel.h"
#include "async/loop.h"
#include "async/stop.h"
#include "async/task.h"
#include "base/redaction.h"
#include "transcript/event.h"

namespace deputy {

// The person's words to a question that wants some; a number chooses a suggestion. Nothing where there are
// none.
std::optional<Answer> words_from(const Question& question, std::string_view line);

// The question as it stands on the screen, up to where the person types: exactly, whatever a terminal shows.
std::string question_text(const Question& question, TerminalLetters letters = TerminalLetters::unicode);

class Prompts {
 public:
  using Reply = std::function<void(const std::string& question_id, Answer answer)>;
  struct Parts {
    SystemLoop& loop;
    Progress& progress;
    OutStream& out;  // may share the terminal with the questions, which stand on the other
    OutStream& err;
    const Redactor& redactor;
    int input = 0;  // the terminal, in its ordinary line mode
    Reply reply;
    std::function<void()> hung_up;  // nobody is there any more, which answers nothing
  };
  explicit Prompts(Parts parts) : parts_(std::move(parts)) {}

  void on_event(const Event& event);
  // Asks until stopped.
  Task<> run(StopToken stop);
  // The question that waits for an answer, where others may have written on the screen since.
  void show_again();
  // What is told next begins a line of its own, also where the person stands behind a question.
  void leave_line();

 private:
  // Nothing when the question was settled without the person, or is left open.
  Task<std::optional<Answer>> ask(Question question, StopToken stop);
  // What was typed until now cannot be meant as an answer to what is shown next.
  void forget_typed();
  // Whether the terminal took all there was to say before the question was settled.
  Task<bool> until_taken(StopToken stop);
  // Whether that came before the question was settled.
  Task<bool> until_in_foreground(StopToken stop);
  std::uint64_t taken() const { return parts_.out.taken() + parts_.err.taken(); }
  Task<std::optional<std::string>> read_line(StopToken stop);

  Parts parts_;
  Channel<Question> asked_;
  std::set<std::string> open_;        // ids of questions that nobody has settled yet
  std::string current_;               // the one on the screen
  std::string shown_;                 // its text, once it stands there
  bool is_due_again_ = false;         // once nobody else has the terminal
  std::string typed_;                 // and not yet read as a line
  std::optional<StopSource> asking_;  // stops when that one is settled
};

}  // namespace deputy
