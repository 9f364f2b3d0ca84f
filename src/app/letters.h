// sessions cancel, answer and nudge: a word to a session that another process runs, left in the inbox of the
// store. Its holder acts within 200 ms; without one it waits for `deputy resume`.
#pragma once

#include <string>
#include <vector>

#include "app/program.h"
#include "store/store.h"
#include "transcript/event.h"
#include "transcript/session.h"

namespace deputy {

// What the sessions of these events ask and may still be answered, in the order in which it was asked.
std::vector<Question> open_questions(const std::vector<Event>& events);

// Whether the nudge or the answer stands among what its session recorded.
bool was_told(const Letter& letter, const std::vector<Event>& events);

// A question to the person as one line, with the words that answer it; where it is too long for that, also
// the command that shows all of it.
std::string question_line(const Program& program, const Question& question);
enum class QuestionForm { line, whole };
// All that the sessions ask the person, on stderr.
void tell_questions(Program& program, const Store& store, const std::vector<Session>& sessions,
                    QuestionForm form = QuestionForm::line);

// Stops what another process runs. A whole tree that nobody runs ends here and now.
Ended cancel_session(Program& program, Store& store, const Session& session);
// Leaves it, waits a little for the holder, and tells what became of it.
Ended leave_letter(Program& program, Store& store, const Session& session, LetterKind kind,
                   const std::string& text);

}  // namespace deputy
