#include "sandbox/launch.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "sandbox/bubble.h"
#include "sandbox/init/protocol.h"

namespace deputy {
namespace {

using std::to_string;

constexpr std::chrono::seconds kPatience{3};  // deputy-init's own limit is for a deputy that hangs

// Descriptors in the order in which they are passed on.
class Descriptors {
 public:
  int add(int descriptor) {
    all_.push_back(descriptor);
    return next() - 1;
  }
  int next() const { return init::kFirstFree + static_cast<int>(all_.size()); }
  std::vector<int> take() { return std::move(all_); }

 private:
  std::vector<int> all_;
};

void add(std::vector<std::string>& to, std::vector<std::string> more) {
  to.insert(to.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

std::vector<std::string> limits_of(const Launch& launch) {
  const ProcessLimits& limits = launch.spec.limits;
  std::vector<std::string> arguments{"--file-bytes", to_string(limits.file_size)};
  // What is mapped is not what is used: a sanitised program maps terabytes. A cgroup counts rightly.
  if (launch.level < SandboxLevel::metered) add(arguments, {"--data-bytes", to_string(limits.memory)});
  // Outside a user namespace all processes of the user would count.
  if (launch.level >= SandboxLevel::isolated) add(arguments, {"--processes", to_string(limits.processes)});
  return arguments;
}

Result<OwnedFd> open_record(const ProcessSpec& spec) {
  if (!spec.record) return OwnedFd();
  const auto& [folder, name] = *spec.record;
  OwnedFd file(::openat(folder->descriptor(), name.c_str(), O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC));
  if (!file) return std::unexpected(error_from_errno(errno, "open " + join_path(folder->path(), name)));
  return file;
}

std::vector<std::string> init_arguments(const Launch& launch, const std::vector<GrantedFolder>& grants,
                                        const OwnedFd& record, Descriptors& descriptors) {
  const ProcessSpec& spec = launch.spec;
  std::vector<std::string> arguments = {
      "--lifeline",      to_string(init::kLifeline),
      "--status",        to_string(init::kStatus),
      "--environment",   to_string(init::kEnvironment),
      "--need-level",    to_string(static_cast<int>(spec.need)),
      "--aim",           to_string(static_cast<int>(launch.level)),
      "--time-limit-ms", to_string(std::chrono::milliseconds(spec.time_limit + kPatience).count())};
  add(arguments, limits_of(launch));
  if (spec.network) add(arguments, {"--network", "1"});
  if (spec.enclosed) add(arguments, {"--enclose", "1"});
  if (spec.folder) add(arguments, {"--start", to_string(init::kStart)});
  for (const auto& grant : grants) {
    add(arguments, {grant.access == Access::write ? "--write" : "--read",
                    to_string(descriptors.add(grant.descriptor.get()))});
  }
  if (record) add(arguments, {"--record", to_string(descriptors.add(record.get()))});
  if (launch.group) {
    for (const auto& entrance : launch.group->entrances())
      add(arguments, {"--group", to_string(descriptors.add(entrance.get()))});
  }
  return arguments;
}

Result<Spawned> spawn_isolated(const Launch& launch, const std::vector<GrantedFolder>& grants,
                               std::vector<std::string> arguments, Descriptors descriptors) {
  TRY(auto bwrap, find_program(launch.settings.bwrap));
  TRY(auto bubble, make_bubble(launch.spec, grants, launch.settings, descriptors.next()));
  for (const auto& source : bubble.descriptors) descriptors.add(source.get());
  const int info_at = descriptors.next();
  add(bubble.arguments, {"--info-fd", to_string(info_at), "--", kInitInside, "--isolated", "1"});
  if (bubble.home) add(bubble.arguments, {"--home", *bubble.home});
  if (launch.spec.folder) add(bubble.arguments, {"--directory", grants[0].path});
  add(bubble.arguments, std::move(arguments));
  add(bubble.arguments, launch.command);
  return spawn_init({.program = std::move(bwrap),
                     .arguments = std::move(bubble.arguments),
                     .environment = launch.spec.environment,
                     .start = launch.spec.folder ? grants[0].descriptor.get() : -1,
                     .descriptors = descriptors.take(),
                     .info_at = info_at});
}

}  // namespace

Result<Spawned> spawn_confined(const Launch& launch) {
  TRY(const auto grants, open_grants(launch.spec));
  TRY(const auto record, open_record(launch.spec));
  Descriptors descriptors;
  auto arguments = init_arguments(launch, grants, record, descriptors);
  if (launch.level >= SandboxLevel::isolated)
    return spawn_isolated(launch, grants, std::move(arguments), std::move(descriptors));
  add(arguments, {"--parent", to_string(::getpid())});
  add(arguments, launch.command);
  return spawn_init({.program = launch.settings.init_path,
                     .arguments = std::move(arguments),
                     .environment = launch.spec.environment,
                     .start = launch.spec.folder ? grants[0].descriptor.get() : -1,
                     .descriptors = descriptors.take()});
}

}  // namespace deputy
