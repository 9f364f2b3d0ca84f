// What a shell offers where a name is typed: one a line, then a tab and a few words on it. It is asked at a
// press of a key: nothing is made, connected to or told twice, and what cannot be read is not offered.
#include <fmt/format.h>

#include "app/agents.h"
#include "app/commands.h"
#include "app/model_choice.h"
#include "app/places.h"
#include "app/session_text.h"
#include "base/text.h"

namespace deputy {
namespace {

constexpr std::size_t kMostSessions = 100;
constexpr std::size_t kGoalCharacters = 48;

void offer(Program& program, std::string_view name, std::string_view about) {
  if (shell_quoted(name) != name) return;  // a shell would read something else
  const std::string line = fmt::format("{}\t{}", name, made_visible(on_one_line(to_utf8(about))));
  program.out.write_line(program.redactor.redact(line));
}

Ended offer_sessions(Program& program) {
  if (!program.keeps_anything()) return ExitStatus::completed;
  TRY(const auto store, program.open_store(Program::StoreUse::glance));
  TRY(const auto sessions, store->sessions({.most = kMostSessions}));
  if (!sessions.empty()) offer(program, "newest", "the tree that was started last");
  for (const Session& session : sessions)
    offer(program, session.id.value,
          fmt::format("{}: {}", name_of(session.state), goal_of(session, kGoalCharacters)));
  return ExitStatus::completed;
}

Ended offer_agents(Program& program) {
  TRY(const auto workspace, program.workspace());
  TRY(const auto found, find_agents(program, workspace));
  const Profiles profiles = profiles_of(found);
  for (const Profile* each : profiles.offered()) offer(program, each->name, each->description);
  return ExitStatus::completed;
}

Ended offer_models(Program& program) {
  TRY(const auto known, program.offer());
  for (const auto& model : known.catalog.known())
    offer(program, model.value, check_access(model, known) ? "can be used here" : "has no key here");
  offer(program, "rehearsal", "built in, not a language model");
  return ExitStatus::completed;
}

}  // namespace

Ended complete_command(Program& program, const CompleteArguments& arguments) {
  switch (arguments.names) {
    case NamesOf::sessions:
      return offer_sessions(program);
    case NamesOf::agents:
      return offer_agents(program);
    case NamesOf::models:
      break;
  }
  return offer_models(program);
}

}  // namespace deputy
