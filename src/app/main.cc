// deputy: the words of the command line, then one command, then what to tell the shell.
#include <fmt/format.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <string>
#include <variant>
#include <vector>

#include "app/commands.h"
#include "base/json.h"
#include "sandbox/background.h"
#include "store/sqlite/database.h"

// libcurl brings GnuTLS along for RTMP and LDAP, which nothing here speaks. Loaded, it would make itself
// ready before main, at the price of a millisecond and half a megabyte; a program that defines this function,
// which is there for that, is spared.
// NOLINTNEXTLINE(bugprone-reserved-identifier,readability-identifier-naming)
extern "C" [[gnu::visibility("default"), gnu::used]] int _gnutls_global_init_skip() { return 1; }

namespace deputy {
namespace {

// A child with its tools is several descriptors, and the usual limit was made for programs without any. What
// is started here gets the usual one again (sandbox/init).
void raise_open_files() {
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return;
  files.rlim_cur = files.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &files);
}

// What holds for the whole process from its first moment on.
void prepare_process() {
  keep_standard_streams();
  ::umask(077);
  raise_open_files();
  ::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is a full disk
  ::signal(SIGPIPE, SIG_IGN);  // a reader that went away is an error of one write, not the end
  count_no_memory();
}

struct Command {
  Program& program;

  Ended operator()(const ChatArguments& arguments) const { return chat_command(program, arguments); }
  Ended operator()(const TextArguments& arguments) const {
    const auto text = arguments.is_help ? program.help_as_typed_here(arguments.text) : arguments.text;
    if (program.common.output == OutputForm::text) {
      program.out.write(text);
    } else {
      program.print(json::object{{"text", text}});
    }
    return ExitStatus::completed;
  }
  Ended operator()(const RunArguments& arguments) const { return run_command(program, arguments); }
  Ended operator()(const BatchArguments& arguments) const { return delegate_command(program, arguments); }
  Ended operator()(const OneTaskArguments& arguments) const { return task_command(program, arguments); }
  Ended operator()(const AgentsArguments& arguments) const { return agents_command(program, arguments); }
  Ended operator()(const DemoArguments&) const { return demo_command(program); }
  Ended operator()(const SessionsArguments& arguments) const { return sessions_command(program, arguments); }
  Ended operator()(const ResumeArguments& arguments) const { return resume_command(program, arguments); }
  Ended operator()(const ModelsArguments&) const { return models_command(program); }
  Ended operator()(const CompleteArguments& arguments) const { return complete_command(program, arguments); }
  Ended operator()(const DoctorArguments& arguments) const { return doctor_command(program, arguments); }
};

bool wants_background(const Result<Arguments>& arguments) {
  const auto* task = arguments ? std::get_if<OneTaskArguments>(&arguments->command) : nullptr;
  return task && task->background;
}

// A terminal that went away ends a chat as the person would. Elsewhere what could not be written is the
// result.
bool prints_result(const Arguments& arguments) {
  const auto terminals = terminals_of_process();
  return !std::holds_alternative<ChatArguments>(arguments.command) || !terminals.in || !terminals.out;
}

// A program that reads the result reads here that there is none.
void tell_failure(Program& program, CommandFailure failure) {
  failure.error.message = program.as_typed_here(failure.error.message);
  failure.error.advice = program.as_typed_here(failure.error.advice);
  program.tell(failure.error);
  if (program.common.output == OutputForm::text || program.out.failure()) return;
  program.print(to_json(failure));
}

ExitStatus unless_lost(Program& program, ExitStatus status) {
  if (!program.out.failure()) return status;
  tell_failure(program, *program.out.failure());
  return ExitStatus::failed;
}

// What the process that was called says of the copy that goes on.
ExitStatus tell(Program& program, const Announced& announced) {
  const bool is_text = program.common.output == OutputForm::text;
  if (is_text) {
    program.out.write_line(announced.text);
  } else {
    program.print(json::object{{"status", "running"}, {"session_id", announced.text}});
  }
  if (is_text || program.out.failure())
    program.err.write_line(
        fmt::format("deputy: it goes on in the background; follow it with `{}`, and where it asks, answer it "
                    "with `{}`",
                    program.command_line("sessions tail " + announced.text),
                    program.command_line(fmt::format("sessions answer {} TEXT", announced.text))));
  return unless_lost(program, ExitStatus::completed);
}

ExitStatus tell(Program& program, const EndedEarly& ended) {
  program.out.write(ended.out);
  program.err.write(ended.err);
  return static_cast<ExitStatus>(ended.status);
}

ExitStatus run(const std::vector<std::string>& words, std::string_view typed_name) {
  const SystemEnvironment environment;
  auto arguments = parse_arguments(words);
  auto common = arguments ? arguments->common : CommonArguments{};
  if (!arguments) common.output = output_wanted(words);
  // Before anything looks at the terminal: the copy has none.
  auto background = wants_background(arguments) ? std::optional(go_on_in_background()) : std::nullopt;
  Program program(common, environment, typed_name);
  if (background && *background) {
    if (const auto* announced = std::get_if<Announced>(&**background)) return tell(program, *announced);
    if (const auto* ended = std::get_if<EndedEarly>(&**background)) return tell(program, *ended);
    program.announcer = std::get<Announcer>(std::move(**background));
  }
  const bool prints = arguments && prints_result(*arguments);  // a terminal may be gone at the end
  const Ended ended = background && !*background ? std::unexpected(CommandFailure(background->error()))
                      : arguments                ? std::visit(Command{program}, arguments->command)
                                  : std::unexpected(CommandFailure(arguments.error(), ExitStatus::usage));
  if (const auto damage = program.damage_passed()) program.tell(*damage);
  if (ended) return prints ? unless_lost(program, *ended) : *ended;
  tell_failure(program, ended.error());
  return ended.error().status;
}

}  // namespace
}  // namespace deputy

int main(int count, char** arguments) {
  deputy::prepare_process();
  const std::vector<std::string> words(arguments + std::min(count, 1), arguments + count);
  return static_cast<int>(deputy::run(words, count > 0 ? arguments[0] : "deputy"));
}
