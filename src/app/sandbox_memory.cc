#include "app/sandbox_memory.h"

#include <fmt/format.h>
#include <unistd.h>

#include "app/places.h"
#include "base/json.h"
#include "base/text.h"

namespace deputy {
namespace {

constexpr std::string_view kFile = "sandbox.json";
constexpr std::size_t kMostBytes = 16 * 1024;

constexpr std::string_view kCircumstances[] = {"/proc/sys/kernel/random/boot_id",
                                               "/proc/self/cgroup",
                                               "/proc/self/uid_map",
                                               "/proc/sys/user/max_user_namespaces",
                                               "/proc/sys/kernel/unprivileged_userns_clone",
                                               "/proc/sys/kernel/apparmor_restrict_unprivileged_userns"};
constexpr std::string_view kBwraps[] = {"/usr/local/bin/bwrap", "/usr/bin/bwrap", "/bin/bwrap"};

std::string version_of(const Disk& disk, std::string_view path) {
  const auto status = disk.status(path);
  if (!status) return fmt::format("{} -\n", path);
  return fmt::format("{} {} {}\n", path, status->size, status->modified.time_since_epoch().count());
}

}  // namespace

std::string sandbox_key(const Disk& disk, std::string_view init_path) {
  std::string facts = fmt::format("{} {}\n", ::geteuid(), ::getegid());
  for (const auto path : kCircumstances)
    facts += read_named_file(disk, path, kMostBytes).value_or("-") + "\n";
  facts += version_of(disk, init_path);
  for (const auto path : kBwraps) facts += version_of(disk, path);
  return sha256_hex(facts);
}

SandboxMemory::SandboxMemory(const Disk& disk, std::shared_ptr<const Folder> home, std::string_view init_path)
    : home_(std::move(home)), key_(sandbox_key(disk, init_path)) {}

std::optional<Capability> SandboxMemory::recall() const {
  const auto text = home_ ? home_->read(kFile, 0, kMostBytes) : std::unexpected(Error{});
  const auto kept = text ? parse_json_object(*text) : std::unexpected(text.error());
  if (!kept || string_or(*kept, "key", "") != key_) return std::nullopt;
  const auto level = integer_or(*kept, "level", 0);
  if (level < static_cast<int>(SandboxLevel::isolated) || level > static_cast<int>(SandboxLevel::metered))
    return std::nullopt;
  return Capability{.level = static_cast<SandboxLevel>(level),
                    .landlock_abi = static_cast<int>(integer_or(*kept, "landlock_abi", 0)),
                    .seccomp = bool_at(*kept, "seccomp").value_or(false),
                    .user_namespaces = bool_at(*kept, "userns").value_or(false),
                    .why = string_or(*kept, "why", ""),
                    .fix = string_or(*kept, "fix", "")};
}

void SandboxMemory::keep(const Capability& can) const {
  if (!home_) return;
  if (can.level < SandboxLevel::isolated) {
    if (recall()) (void)home_->remove(kFile);
    return;
  }
  // What cannot be kept is found out again.
  (void)home_->replace(kFile, to_json_text(json::object{{"key", key_},
                                                        {"level", static_cast<int>(can.level)},
                                                        {"landlock_abi", can.landlock_abi},
                                                        {"seccomp", can.seccomp},
                                                        {"userns", can.user_namespaces},
                                                        {"why", can.why},
                                                        {"fix", can.fix}}));
}

}  // namespace deputy
