#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "app/commands.h"
#include "app/doctor_check.h"
#include "app/model_choice.h"
#include "app/places.h"
#include "app/run_on.h"
#include "app/sandbox_memory.h"
#include "app/tree_command.h"
#include "base/json.h"
#include "base/text.h"
#include "sandbox/processes.h"
#include "store/sqlite/quarantine.h"

namespace deputy {
namespace {

constexpr std::uint64_t kLeastSpace = 64ULL << 20;

struct ProgramNeeded {
  std::string_view name;
  Need need;
  std::string_view use;
};
constexpr ProgramNeeded kPrograms[] = {
    {"rg", Need::required, "Grep and Glob search with it: install ripgrep, as root: `apt install ripgrep`"},
    {"git", Need::useful, "for work in repositories: install git, as root: `apt install git`"},
    {"bwrap", Need::useful,
     "confines commands further: install bubblewrap, as root: `apt install bubblewrap`"},
};

Task<Check> check_program(SystemProcesses& processes, ProgramNeeded needed) {
  Check check{.name = std::string(needed.name), .need = needed.need, .fix = std::string(needed.use)};
  const auto result =
      co_await processes.run({.argv = {check.name, "--version"}, .time_limit = std::chrono::seconds(10)}, {});
  if (!result) {
    check.found = result.error().message;
  } else if (result->exit_status != 0) {
    check.found = fmt::format("`{} --version` ended with status {}", check.name, result->exit_status);
  } else {
    check.is_fine = true;
    const auto lines = lines_of(result->output);
    check.found = lines.empty() ? "" : made_visible(to_utf8(lines.front()));
  }
  co_return check;
}

Check check_space(const Folder& home) {
  Check check{.name = "disk space", .fix = "free some space, or choose another state folder with --home"};
  struct statvfs space{};
  if (::fstatvfs(home.descriptor(), &space) != 0) {  // seam: a doctor looks at the real disk
    check.found = "cannot be told";
    return check;
  }
  const std::uint64_t free = std::uint64_t{space.f_bavail} * space.f_frsize;
  check.is_fine = free >= kLeastSpace;
  check.found = fmt::format("{} MiB free", with_thousands(free >> 20));
  return check;
}

// Where all that is listed cannot be read, or nothing be added.
std::optional<Error> trouble_with_store(Program& program) {
  const auto store = program.open_store();
  if (!store) return store.error();
  if (program.loss()) return program.loss();
  const auto home = program.open_home();
  if (const auto whole = home ? check_pages_of(**home) : Result<void>{}; !whole) return whole.error();
  const auto sessions = (*store)->sessions({.most = kAllSessions});
  return sessions ? program.damage_passed() : sessions.error();
}

// What is kept can be read and added to; nothing is left of the attempt.
void add_state(Program& program, std::vector<Check>& checks) {
  Check check{.name = "state folder", .fix = "make it writable, or choose another with --home"};
  const auto home = program.open_home();
  if (!home) {
    check.found = home.error().message;
    check.fix = home.error().advice;
    checks.push_back(std::move(check));
    return;
  }
  constexpr std::string_view kAttempt = ".doctor";
  const auto written = (*home)->replace(kAttempt, "x");
  if (written) (void)(*home)->remove(kAttempt);
  const auto trouble = written ? trouble_with_store(program) : std::optional(written.error());
  check.is_fine = !trouble;
  check.found = trouble ? trouble->message : (*home)->path();
  if (trouble && !trouble->advice.empty()) check.fix = trouble->advice;
  checks.push_back(std::move(check));
  checks.push_back(check_space(**home));
}

void add_surroundings(const Program& program, std::vector<Check>& checks) {
  const auto terminals = terminals_of_process();
  const Looks& looks = program.looks;
  checks.push_back(
      {.name = "terminal",
       .need = Need::useful,
       .is_fine = terminals.err,
       .found = fmt::format("{}, {}, {}", terminals.err ? "yes" : "no terminal on stderr",
                            looks.err.colour ? "colour" : "no colour", looks.err.unicode ? "UTF-8" : "ASCII"),
       .fix = "without one, progress is plain lines and nobody can be asked"});
}

// Whether a run could begin with them.
OrFailure<void> check_usable(Program& program) {
  TRY(program.tool_settings());
  TRY(const auto limits, program.limits());
  return check_live_limit(limits);
}

Check check_settings(Program& program) {
  const auto loaded = program.settings();
  const auto usable = loaded ? check_usable(program) : std::unexpected(loaded.error());
  if (!usable)
    return {.name = "settings", .found = usable.error().error.message, .fix = usable.error().error.advice};
  return {.name = "settings",
          .is_fine = true,
          .found = (*loaded)->file.empty() ? "none" : made_visible(to_utf8((*loaded)->file)),
          .fix = {}};
}

Check check_model(Program& program) {
  Check check{.name = "model"};
  const auto offer = program.offer();
  const auto model = chosen_model(program);
  const auto reachable = model && offer ? check_access(*model, *offer) : Result<void>();
  if (!model || !reachable) {
    const Error& error = model ? reachable.error() : model.error().error;
    check.found = error.message;
    check.fix = error.advice;
    return check;
  }
  check.is_fine = true;
  check.found =
      is_rehearsal(*model) ? "rehearsal: built in, not a language model; needs no key" : model->value;
  return check;
}

// Whom one could ask, and by which way.
void add_providers(Program& program, std::vector<Check>& checks) {
  const auto offer = program.offer();
  if (!offer) return;
  std::vector<std::string> with_key;
  for (const auto& access : offer->providers) {
    if (access.has_key()) with_key.push_back(fmt::format("{} ({})", access.name, access.key_variable));
  }
  checks.push_back({.name = "keys",
                    .need = Need::useful,
                    .is_fine = !with_key.empty(),
                    .found = with_key.empty() ? "none" : fmt::format("{}", fmt::join(with_key, ", ")),
                    .fix = "for a language model set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY, or "
                           "run Ollama"});
  const CurlOptions options = network_options(offer->settings.network, program.environment);
  std::vector<std::string> ways;
  if (!options.https_proxy.empty()) ways.emplace_back("through the proxy that is set");
  if (!options.no_proxy.empty()) ways.push_back(fmt::format("without it to {}", options.no_proxy));
  if (!options.ca_file.empty()) ways.push_back(fmt::format("certificates of {}", options.ca_file));
  Check check{.name = "network",
              .is_fine = true,
              .found = ways.empty() ? "direct, with the system's certificates"
                                    : made_visible(to_utf8(fmt::format("{}", fmt::join(ways, "; ")))),
              .fix = "set SSL_CERT_FILE, or ca_file in the settings, to a file that can be read"};
  if (!options.ca_file.empty() &&
      !program.disk.status(join_path(program.disk.current_folder(), options.ca_file))) {
    check.is_fine = false;
    check.found += ": that file cannot be found";
  }
  checks.push_back(std::move(check));
}

Task<> examine(Program& program, std::vector<Check>& checks) {
  SystemProcesses processes(program.loop, init_path());
  const auto can = co_await processes.capability({});
  checks.push_back(check_sandbox(can, ::geteuid()));
  if (can) SandboxMemory(program.disk, program.open_home().value_or(nullptr), init_path()).keep(*can);
  for (const auto& needed : kPrograms) checks.push_back(co_await check_program(processes, needed));
  add_state(program, checks);
  add_surroundings(program, checks);
}

std::string text_of(const Check& check, const Style& style) {
  const Marks& marks = marks_of(style);
  if (check.is_fine)
    return fmt::format("{} {:<14}{}\n", toned(style, Tone::good, marks.done), check.name, check.found);
  const bool is_required = check.need == Need::required;
  return fmt::format(
      "{} {:<14}{}\n  {:<14}{}\n",
      toned(style, is_required ? Tone::bad : Tone::doubtful, is_required ? marks.failed : marks.partial),
      check.name, check.found, "", check.fix);
}

}  // namespace

json::object to_json(const Check& check) {
  json::object value{{"name", check.name},
                     {"ok", check.is_fine},
                     {"required", check.need == Need::required},
                     {"found", check.found}};
  if (!check.is_fine) value["fix"] = check.fix;
  return value;
}

Ended doctor_command(Program& program, const DoctorArguments& arguments) {
  if (arguments.replayed) return replay_bundle(program, *arguments.replayed);
  std::vector<Check> checks;
  run_on(program.loop, examine(program, checks));
  checks.push_back(check_settings(program));
  add_providers(program, checks);
  checks.push_back(check_model(program));
  if (arguments.bundled) return make_bundle(program, *arguments.bundled, checks);
  for (auto& check : checks) check.fix = program.as_typed_here(check.fix);
  const bool is_well = std::ranges::all_of(
      checks, [](const Check& check) { return check.is_fine || check.need == Need::useful; });
  if (program.common.output == OutputForm::text) {
    for (const auto& check : checks) program.out.write(text_of(check, program.looks.out));
    program.out.write_line(is_well ? "All that is needed is here."
                                   : "Something that is needed is missing: see above.");
  } else {
    json::array found;
    for (const auto& check : checks) found.emplace_back(to_json(check));
    program.print(json::object{{"ok", is_well}, {"checks", std::move(found)}});
  }
  return is_well ? ExitStatus::completed : ExitStatus::failed;
}

}  // namespace deputy
