#include "sandbox/init/confine.h"

#include <errno.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sandbox/init/enclosure.h"
#include "sandbox/init/filter.h"
#include "sandbox/init/landlock.h"

namespace deputy::init {
namespace {

// Never raises: a hard limit below the wish stays.
bool limit(__rlimit_resource resource, rlim_t soft, rlim_t hard) {
  rlimit now{};
  if (getrlimit(resource, &now) != 0) return false;
  if (hard > now.rlim_max) hard = now.rlim_max;
  if (soft > hard) soft = hard;
  const rlimit wanted{soft, hard};
  return setrlimit(resource, &wanted) == 0;
}

// All sets, and the bounding set where we may: a program run by root would get them back from it.
bool drop_capabilities() {
  for (int capability = 0; capability < 64; ++capability) {
    if (prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0) break;  // past the last one, or not ours to drop
  }
  prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {};
  if (syscall(SYS_capset, &header, none) != 0) return false;
  __user_cap_data_struct left[_LINUX_CAPABILITY_U32S_3] = {};
  if (syscall(SYS_capget, &header, left) != 0) return false;
  if (memcmp(left, none, sizeof none) == 0) return true;
  errno = EPERM;
  return false;
}

}  // namespace

bool set_limits(const Options& options) {
  if (!limit(RLIMIT_CORE, 0, 0)) return false;
  if (!limit(RLIMIT_NOFILE, static_cast<rlim_t>(options.open_files), RLIM_INFINITY)) return false;
  const auto file = static_cast<rlim_t>(options.file_bytes);
  if (file > 0 && !limit(RLIMIT_FSIZE, file, file)) return false;
  const auto processes = static_cast<rlim_t>(options.processes);
  if (processes > 0 && !limit(RLIMIT_NPROC, processes, processes)) return false;
  const auto data = static_cast<rlim_t>(options.data_bytes);
  if (data > 0 && !limit(RLIMIT_DATA, data, data)) return false;
  const auto cpu = static_cast<rlim_t>(options.cpu_seconds);
  return cpu == 0 || limit(RLIMIT_CPU, cpu, cpu + 1);
}

bool enter_groups(const Options& options) {
  for (int i = 0; i < options.group_count; ++i) {
    if (write(options.groups[i], "0", 1) != 1) return false;
  }
  return true;
}

Confinement confine(const Options& options, pid_t init) {
  Confinement reached;
  const auto lacks = [&reached](const char* what) {
    reached.missing = what;
    reached.error = errno;
    return reached;
  };
  if (options.aim < 1) return reached;
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return lacks("no_new_privs");
  reached.landlock_abi = landlock_abi();
  if (reached.landlock_abi < 1) return lacks("Landlock");
  const bool enclosed = enclose(options);
  if (!restrict_files(reached.landlock_abi, options, enclosed)) return lacks("Landlock");
  if (!drop_capabilities()) return lacks("dropping capabilities");
  const FilterRules rules{.init = init,
                          .isolated = options.isolated,
                          .sockets = options.network || options.isolated,
                          .truncation = options.isolated || guards_truncation(reached.landlock_abi, options)};
  if (!Filter(rules).install()) return lacks("seccomp");
  reached.level = !options.isolated ? 1 : options.group_count == 0 ? 2 : 3;
  reached.missing = options.isolated ? "a cgroup" : "namespaces of its own";
  return reached;
}

}  // namespace deputy::init
