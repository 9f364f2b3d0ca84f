// What this machine can do, found out by starting deputy-init's probe as a program would be started.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/json.h"
#include "base/text.h"
#include "sandbox/launch.h"
#include "sandbox/processes.h"
#include "sandbox/watch.h"

namespace deputy {
namespace {

constexpr std::chrono::seconds kTimeLimit{30};
constexpr std::size_t kMostSaid = 4096;

constexpr std::string_view kNeedsKernel =
    "run deputy on Linux 5.13 or later, with Landlock among its security modules (lsm=landlock,…) and "
    "seccomp";
constexpr std::string_view kNeedsBwrap = "install bubblewrap, as root: `apt install bubblewrap`";
constexpr std::string_view kNeedsNamespaces =
    "allow user namespaces, as root: `sysctl -e -w user.max_user_namespaces=15000 "
    "kernel.unprivileged_userns_clone=1`; on "
    "Ubuntu also an AppArmor profile for bwrap; in a container, run it with --security-opt "
    "seccomp=unconfined";
constexpr std::string_view kNeedsNewerBwrap =
    "what bwrap says names the cause; bubblewrap 0.10, or one with its security fixes of 2024, is needed";
constexpr std::string_view kNeedsGroups =
    "run deputy as root, or in a shell whose cgroups are yours: `systemd-run --user --scope -p Delegate=yes "
    "bash`";

// What the probe said, if it came to that, and what stood in its way.
struct Probed {
  std::optional<Capability> capability;
  std::string obstacle;
};

Probed probed(const Ran& ran) {
  const auto facts = parse_json_object(ran.output.text);
  if (!facts) return {.obstacle = on_one_line(made_visible(to_utf8(ran.errors.text)))};
  return {.capability = Capability{.level = static_cast<SandboxLevel>(
                                       std::clamp<std::int64_t>(integer_or(*facts, "level", 0), 0, 3)),
                                   .landlock_abi = static_cast<int>(integer_or(*facts, "landlock_abi", 0)),
                                   .seccomp = bool_at(*facts, "seccomp").value_or(false),
                                   .user_namespaces = bool_at(*facts, "userns").value_or(false)}};
}

Task<Result<Probed>> probe_at(SystemLoop& loop, SandboxSettings settings, SandboxLevel level,
                              const ControlGroup* group, StopToken stop) {
  const ProcessSpec spec;
  auto spawned = spawn_confined(
      {.spec = spec, .settings = settings, .level = level, .group = group, .command = {"--probe"}});
  // No room for a process says nothing about the machine.
  if (!spawned && spawned.error().code == ErrorCode::exhausted)
    co_return std::unexpected(std::move(spawned).error());
  if (!spawned) co_return Probed{.obstacle = spawned.error().message};
  const Ran ran =
      co_await watch(loop, *std::move(spawned), {.max_output = kMostSaid, .time = kTimeLimit}, stop);
  if (ran.interrupted == Interrupted::by_stop) co_return std::unexpected(Error::cancelled());
  if (ran.interrupted == Interrupted::by_time_limit) {
    co_return fail(ErrorCode::timeout,
                   fmt::format("the sandbox could not be tried out within {} s", kTimeLimit.count()),
                   "the machine is very busy: try again later");
  }
  co_return probed(ran);
}

void explain_isolated(Capability& capability, const Result<ControlGroup>& group) {
  if (capability.level == SandboxLevel::metered) return;
  capability.why = group ? "its own cgroup cannot be entered" : group.error().message;
  capability.fix = kNeedsGroups;
}

void explain_restricted(Capability& capability, const std::string& obstacle, bool has_bwrap) {
  if (capability.level == SandboxLevel::none) {
    capability.why = capability.landlock_abi == 0 ? "the kernel has no Landlock"
                     : !capability.seccomp        ? "the kernel has no seccomp filter"
                                           : "a program cannot be confined or its tree not be ended here";
    capability.fix = kNeedsKernel;
    return;
  }
  capability.why =
      fmt::format("namespaces cannot be made: {}", obstacle.empty() ? "bwrap said nothing" : obstacle);
  capability.fix = !has_bwrap                    ? kNeedsBwrap
                   : !capability.user_namespaces ? kNeedsNamespaces
                                                 : kNeedsNewerBwrap;
}

}  // namespace

// Whoever asks first tries; the others wait for what comes of it.
Task<Result<Capability>> SystemProcesses::capability(StopToken stop) {
  while (!stop.stopped() && !capability_ && is_trying_) {
    const Waiter<bool> turn;
    waiting_.push_back(turn);
    const auto on_stop = stop.on_stop([turn] { turn.resume(false); });
    co_await turn.wait();
  }
  if (stop.stopped()) co_return std::unexpected(Error::cancelled());
  if (capability_) co_return *capability_;
  is_trying_ = true;
  auto found = co_await try_out(stop);
  is_trying_ = false;
  if (found) capability_ = *found;
  for (const auto& turn : std::exchange(waiting_, {})) turn.resume(true);
  co_return found;
}

Task<Result<Capability>> SystemProcesses::try_out(StopToken stop) {
  const auto group = ControlGroup::make({});
  CO_TRY(Probed found,
         co_await probe_at(loop_, settings_, group ? SandboxLevel::metered : SandboxLevel::isolated,
                           group ? &*group : nullptr, stop));
  if (found.capability && found.capability->level >= SandboxLevel::isolated) {
    explain_isolated(*found.capability, group);
    // How far commands can be confined is known by now, whatever comes of this.
    const auto outside = co_await probe_at(loop_, settings_, SandboxLevel::restricted, nullptr, stop);
    if (!outside && outside.error().code == ErrorCode::cancelled) co_return std::unexpected(outside.error());
    found.capability->user_namespaces =
        outside && outside->capability && outside->capability->user_namespaces;
  } else {
    const auto obstacle = std::move(found.obstacle);
    CO_TRY(found, co_await probe_at(loop_, settings_, SandboxLevel::restricted, nullptr, stop));
    if (!found.capability) {
      co_return fail(ErrorCode::unavailable,
                     fmt::format("{} --probe said nothing: {}", settings_.init_path, found.obstacle),
                     "reinstall deputy: deputy-init belongs beside the program, executable");
    }
    explain_restricted(*found.capability, obstacle, find_program(settings_.bwrap).has_value());
  }
  co_return *std::move(found.capability);
}

Task<Result<std::string>> SystemProcesses::probe(StopToken stop) {
  CO_TRY(const Capability can, co_await capability(stop));
  co_return to_json_text(json::object{{"level", static_cast<int>(can.level)},
                                      {"landlock_abi", can.landlock_abi},
                                      {"seccomp", can.seccomp},
                                      {"userns", can.user_namespaces},
                                      {"why", can.why},
                                      {"fix", can.fix}});
}

}  // namespace deputy
