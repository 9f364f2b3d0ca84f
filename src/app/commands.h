// The commands, one function each. A command yields what to tell the shell, or why it did not do its work.
#pragma once

#include "app/arguments.h"
#include "app/program.h"

namespace deputy {

Ended run_command(Program& program, const RunArguments& arguments);
Ended delegate_command(Program& program, const BatchArguments& arguments);
Ended task_command(Program& program, const OneTaskArguments& arguments);
Ended agents_command(Program& program, const AgentsArguments& arguments);
Ended demo_command(Program& program);
Ended resume_command(Program& program, const ResumeArguments& arguments);
Ended sessions_command(Program& program, const SessionsArguments& arguments);
Ended models_command(Program& program);
// For the scripts that `deputy completions` prints.
Ended complete_command(Program& program, const CompleteArguments& arguments);
Ended doctor_command(Program& program, const DoctorArguments& arguments);
// A chat on a terminal. Elsewhere no command at all says what this is, and what to try.
Ended chat_command(Program& program, const ChatArguments& arguments);
Ended greeting_command(Program& program);

}  // namespace deputy
