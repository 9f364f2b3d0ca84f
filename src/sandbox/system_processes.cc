#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "base/json.h"
#include "base/text.h"
#include "sandbox/free_place.h"
#include "sandbox/launch.h"
#include "sandbox/processes.h"
#include "sandbox/status_record.h"
#include "sandbox/watch.h"

namespace deputy {
namespace {

using std::chrono::seconds;

constexpr std::string_view kLevelNames[] = {"unconfined", "restricted", "isolated", "metered"};

std::string_view name_of(SandboxLevel level) { return kLevelNames[static_cast<std::size_t>(level)]; }

Error start_error(int number, const std::string& program) {
  if (number == E2BIG) {
    return {ErrorCode::invalid, fmt::format("cannot execute {}: {}", program, std::strerror(number)),
            "the arguments or the environment are too long: pass less"};
  }
  if (number == EACCES) {
    return {
        ErrorCode::denied, fmt::format("cannot execute {}: {}", program, std::strerror(number)),
        "only programs that lie beneath /usr, /bin or /sbin, not links out of them, or in a folder that may "
        "be written, run confined: install it there"};
  }
  return error_from_errno(number, "execute " + program);
}

Error lost(const Ran& ran, const std::string& program) {
  return {ErrorCode::internal,
          fmt::format("deputy-init ended before {} did (signal {}); what that had started may still run: {}",
                      program, ran.init_signal, ran.errors.text.substr(0, 500)),
          "look for it with ps; if nobody killed deputy-init, please report this"};
}

// From `isolated` on the kernel has ended all of it, whoever killed what.
Result<int> exit_status_of(const Ran& ran, const StatusRecord& record, const std::string& program) {
  if (record.exit_status) return *record.exit_status;
  if (record.level < SandboxLevel::isolated) return std::unexpected(lost(ran, program));
  return 128 + SIGKILL;
}

Result<ProcessResult> result_of(Ran ran, const std::string& program) {
  const auto record = parse_status(ran.status);
  if (ran.interrupted == Interrupted::by_stop) return std::unexpected(Error::cancelled());
  if (!record.began && ran.interrupted == Interrupted::no) {
    return fail(ErrorCode::unavailable,
                fmt::format("{} was not started: its surroundings could not be made ({})", program,
                            on_one_line(made_visible(to_utf8(ran.errors.text.substr(0, 500))))),
                "`deputy doctor` shows what this machine can do");
  }
  if (record.refused) {
    return fail(ErrorCode::unavailable,
                fmt::format("{} was not started: it cannot be confined here ({})", program, *record.refused),
                "Linux 5.13 or later with Landlock and seccomp is needed; `deputy doctor` shows what this "
                "machine has");
  }
  if (record.unstarted) return std::unexpected(start_error(*record.unstarted, program));
  TRY(const int exit_status, exit_status_of(ran, record, program));
  return ProcessResult{.exit_status = exit_status,
                       .output = std::move(ran.output.text),
                       .errors = std::move(ran.errors.text),
                       .output_end = std::move(ran.output.end),
                       .errors_end = std::move(ran.errors.end),
                       .cut = ran.output.cut || ran.errors.cut,
                       .timed_out = ran.interrupted == Interrupted::by_time_limit || record.timed_out,
                       .level = record.level};
}

Error below_need(const ProcessSpec& spec, const Capability& capability) {
  return {ErrorCode::unavailable,
          fmt::format(
              "{} was not started: it must run {} (level {}), and this machine can only do {} (level {}): {}",
              spec.argv[0], name_of(spec.need), static_cast<int>(spec.need), name_of(capability.level),
              static_cast<int>(capability.level), capability.why),
          capability.fix};
}

std::vector<std::string> command_of(const ProcessSpec& spec, std::string program) {
  std::vector<std::string> command{"--", std::move(program)};
  command.insert(command.end(), spec.argv.begin() + 1, spec.argv.end());
  return command;
}

}  // namespace

SystemProcesses::SystemProcesses(SystemLoop& loop, std::string init_path)
    : SystemProcesses(loop, SandboxSettings{.init_path = std::move(init_path)}) {}

SystemProcesses::SystemProcesses(SystemLoop& loop, SandboxSettings settings)
    : loop_(loop), settings_(std::move(settings)) {}

SystemProcesses::~SystemProcesses() = default;

Task<Result<ProcessResult>> SystemProcesses::run(ProcessSpec spec, StopToken stop) {
  if (stop.stopped()) co_return std::unexpected(Error::cancelled());
  if (spec.argv.empty())
    co_return fail(ErrorCode::invalid, "no program was named", "give argv at least one element");
  CO_TRY(auto program, find_program(spec.argv[0]));
  spec.time_limit = std::clamp(spec.time_limit, seconds(0), kLongestTimeLimit);
  SandboxLevel level = std::max(spec.aim, spec.need);
  if (level >= SandboxLevel::isolated) {
    CO_TRY(const Capability can, co_await capability(stop));
    level = std::min(level, can.level);
    if (level < spec.need) co_return std::unexpected(below_need(spec, can));
  }
  std::optional<ControlGroup> group;
  if (level == SandboxLevel::metered) {
    auto made = ControlGroup::make(spec.limits);
    if (made) {
      group.emplace(*std::move(made));
    } else if (spec.need == SandboxLevel::metered) {
      co_return std::unexpected(std::move(made).error());
    } else {
      level = SandboxLevel::isolated;
    }
  }
  const bool could_make_them =
      level >= SandboxLevel::isolated && spec.folder && spec.folder_access == Access::write;
  std::optional<FreePlace> no_repository;
  std::optional<FreePlace> no_state;
  if (could_make_them) {
    CO_TRY(auto held, FreePlace::hold(spec.folder->descriptor(), ".git"));
    if (held) no_repository.emplace(*std::move(held));
  }
  // A child's folder lies in one already.
  if (could_make_them && !spec.folder->path().contains("/.deputy/")) {
    CO_TRY(auto held, FreePlace::hold(spec.folder->descriptor(), ".deputy"));
    if (held) no_state.emplace(*std::move(held));
  }
  CO_TRY(Spawned spawned, spawn_confined({.spec = spec,
                                          .settings = settings_,
                                          .level = level,
                                          .group = group ? &*group : nullptr,
                                          .command = command_of(spec, std::move(program))}));
  Ran ran = co_await watch(
      loop_, std::move(spawned),
      {.max_output = spec.max_output, .time = spec.time_limit, .on_output = std::move(spec.on_output)}, stop);
  if (const auto use = parse_status(ran.status).use; use && spec.on_use) spec.on_use(*use);
  co_return result_of(std::move(ran), spec.argv[0]);
}

}  // namespace deputy
