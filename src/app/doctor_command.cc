#include <fmt/format.h>
#include <sys/statvfs.h>

#include "app/commands.h"
#include "app/model_choice.h"
#include "app/places.h"
#include "app/run_on.h"
#include "base/json.h"
#include "base/text.h"
#include "sandbox/processes.h"

namespace deputy {
namespace {

constexpr std::uint64_t kLeastSpace = 64ULL << 20;

enum class Need { required, useful };

struct Check {
  std::string name;
  Need need = Need::required;
  bool is_fine = false;
  std::string found;  // what is there, or what is wrong
  std::string fix;
};

struct ProgramNeeded {
  std::string_view name;
  Need need;
  std::string_view use;
};
constexpr ProgramNeeded kPrograms[] = {
    {"rg", Need::required, "Grep and Glob search with it: install ripgrep (apt install ripgrep)"},
    {"git", Need::useful, "for work in repositories: install git (apt install git)"},
    {"bwrap", Need::useful, "confines commands further: install bubblewrap (apt install bubblewrap)"},
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

Task<Check> check_sandbox(SystemProcesses& processes) {
  Check check{
      .name = "sandbox",
      .fix = "Linux 5.13 or later with Landlock and seccomp is needed, and deputy-init beside deputy"};
  const auto probed = co_await processes.probe({});
  if (!probed) {
    check.found = probed.error().message;
    co_return check;
  }
  const auto facts = parse_json_object(*probed);
  if (!facts) {
    check.found = fmt::format("deputy-init said what cannot be read: {}", made_visible(*probed));
    co_return check;
  }
  const auto yes_no = [&](std::string_view key) {
    return bool_at(*facts, key).value_or(false) ? "yes" : "no";
  };
  check.is_fine = integer_or(*facts, "level", 0) >= 1;
  check.found =
      fmt::format("level {}, Landlock ABI {}, seccomp {}, user namespaces {}", integer_or(*facts, "level", 0),
                  integer_or(*facts, "landlock_abi", 0), yes_no("seccomp"), yes_no("userns"));
  co_return check;
}

Check check_space(const Folder& home) {
  Check check{.name = "disk space", .fix = "free some space, or choose another state folder with --home"};
  struct statvfs space{};
  if (::fstatvfs(home.descriptor(), &space) != 0) {
    check.found = "cannot be told";
    return check;
  }
  const std::uint64_t free = std::uint64_t{space.f_bavail} * space.f_frsize;
  check.is_fine = free >= kLeastSpace;
  check.found = fmt::format("{} MiB free", with_thousands(free >> 20));
  return check;
}

// What is kept can be read and added to; nothing is left of the attempt.
void add_state(Program& program, std::vector<Check>& checks) {
  Check check{.name = "state folder", .fix = "make it writable, or choose another with --home"};
  const auto home = program.open_home();
  if (!home) {
    check.found = home.error().message;
    checks.push_back(std::move(check));
    return;
  }
  constexpr std::string_view kAttempt = ".doctor";
  const auto written = (*home)->replace(kAttempt, "x");
  if (written) (void)(*home)->remove(kAttempt);
  const auto store = written ? program.open_store() : std::unexpected(written.error());
  check.is_fine = store.has_value();
  check.found = store ? (*home)->path() : store.error().message;
  if (!store && !store.error().advice.empty()) check.fix = store.error().advice;
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
  const auto model = wanted_model(program.common, program.environment, program.disk.current_folder());
  checks.push_back({.name = "model",
                    .is_fine = model.has_value(),
                    .found = !model ? model.error().message
                             : is_rehearsal(*model)
                                 ? "rehearsal: built in, not a language model; needs no key"
                                 : model->value,
                    .fix = model ? "" : model.error().advice});
}

Task<> examine(Program& program, std::vector<Check>& checks) {
  SystemProcesses processes(program.loop, join_path(program_folder(), "deputy-init"));
  checks.push_back(co_await check_sandbox(processes));
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

json::object to_json(const Check& check) {
  json::object value{{"name", check.name},
                     {"ok", check.is_fine},
                     {"required", check.need == Need::required},
                     {"found", check.found}};
  if (!check.is_fine) value["fix"] = check.fix;
  return value;
}

}  // namespace

Ended doctor_command(Program& program) {
  std::vector<Check> checks;
  run_on(program.loop, examine(program, checks));
  const bool is_well = std::ranges::all_of(
      checks, [](const Check& check) { return check.is_fine || check.need == Need::useful; });
  if (program.common.output == OutputForm::text) {
    for (const auto& check : checks) program.out.write(text_of(check, program.looks.out));
    program.out.write_line(is_well ? "All that is needed is here."
                                   : "Something that is needed is missing: see above.");
  } else {
    json::array found;
    for (const auto& check : checks) found.emplace_back(to_json(check));
    program.out.write_line(to_json_text(json::object{{"ok", is_well}, {"checks", std::move(found)}}));
  }
  return is_well ? ExitStatus::completed : ExitStatus::failed;
}

}  // namespace deputy
