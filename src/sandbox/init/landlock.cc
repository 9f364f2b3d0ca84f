#include "sandbox/init/landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "sandbox/init/programs.h"

namespace deputy::init {
namespace {

// The system's headers may be years older than its kernel, so the interface is spelled out here.
constexpr long kCreateRuleset = 444;
constexpr long kAddRule = 445;
constexpr long kRestrictSelf = 446;
constexpr unsigned kAskVersion = 1;
constexpr int kPathBeneath = 1;

constexpr uint64_t kExecute = 1 << 0;
constexpr uint64_t kWriteFile = 1 << 1;
constexpr uint64_t kReadFile = 1 << 2;
constexpr uint64_t kReadDir = 1 << 3;
// All but making devices and sockets.
constexpr uint64_t kChange = kWriteFile | 1 << 4 | 1 << 5 | 1 << 7 | 1 << 8 | 1 << 10 | 1 << 12;
constexpr uint64_t kAllOfAbi1 = (1 << 13) - 1;
constexpr uint64_t kRefer = 1 << 13;           // ABI 2; forbidden before
constexpr uint64_t kTruncate = 1 << 14;        // ABI 3; where it is not asked for, the filter stands in
constexpr uint64_t kIoctlDev = 1 << 15;        // ABI 5
constexpr uint64_t kBindTcp = 1 << 0;          // ABI 4; the filter denies sockets too
constexpr uint64_t kConnectTcp = 1 << 1;       // ABI 4
constexpr uint64_t kAbstractSockets = 1 << 0;  // ABI 6
constexpr uint64_t kSignals = 1 << 1;          // ABI 6

struct Ruleset {
  uint64_t files = 0;
  uint64_t network = 0;
  uint64_t scoped = 0;
};

struct __attribute__((packed)) PathRule {
  uint64_t allowed = 0;
  int32_t parent = -1;
};

// What programs look at when they start. Not the rest of /etc: it holds keys and password hashes, which root
// may read.
constexpr const char* kSettings[] = {kLibraryIndex,    "/etc/ld.so.preload", "/etc/locale.alias",
                                     "/etc/localtime", "/etc/nsswitch.conf", "/etc/passwd",
                                     "/etc/group"};
// Without which programs that draw random numbers fail, git among them.
constexpr const char* kDevices[] = {"/dev/random", "/dev/urandom", "/dev/zero", "/dev/full"};

// And when they look for a host. Certificates are public; keys are not beneath these.
constexpr const char* kNetworkSettings[] = {"/etc/resolv.conf", "/etc/hosts",          "/etc/host.conf",
                                            "/etc/gai.conf",    "/etc/services",       "/etc/protocols",
                                            "/etc/ssl/certs",   "/etc/ssl/openssl.cnf"};
// What is the isolated process's own.
constexpr const char* kOwn[] = {"/tmp", "/run", "/dev"};

Ruleset ruleset_of(int abi, const Options& options, bool enclosed) {
  Ruleset ruleset;
  ruleset.files = enclosed ? kAllOfAbi1 & ~(kReadFile | kReadDir) : kAllOfAbi1;
  if (abi >= 2) ruleset.files |= kRefer;
  if (guards_truncation(abi, options)) ruleset.files |= kTruncate;
  if (abi >= 4 && !options.network && !options.isolated) ruleset.network = kBindTcp | kConnectTcp;
  if (abi >= 5) ruleset.files |= kIoctlDev;
  if (abi >= 6) ruleset.scoped = kAbstractSockets | kSignals;
  return ruleset;
}

// An older kernel refuses a structure that is longer than its own.
size_t size_of(int abi) {
  if (abi < 4) return sizeof(uint64_t);
  return abi < 6 ? 2 * sizeof(uint64_t) : sizeof(Ruleset);
}

constexpr uint64_t kForFiles = kExecute | kWriteFile | kReadFile | kTruncate | kIoctlDev;

// The rules that are being made.
struct Rules {
  int descriptor = -1;
  uint64_t handled = 0;  // what is forbidden where no rule allows it
};

bool allow_beneath(const Rules& rules, int descriptor, uint64_t allowed) {
  struct stat status{};
  if (fstat(descriptor, &status) != 0) return false;
  if (!S_ISDIR(status.st_mode)) allowed &= kForFiles;  // the kernel refuses the others for a file
  const PathRule rule{allowed & rules.handled, descriptor};
  return rule.allowed == 0 || syscall(kAddRule, rules.descriptor, kPathBeneath, &rule, 0) == 0;
}

// What is not there needs no rule.
bool allow_path(const Rules& rules, const char* path, uint64_t allowed) {
  const int descriptor = open(path, O_PATH | O_CLOEXEC);
  if (descriptor < 0) return errno == ENOENT || errno == EACCES;
  const bool allowed_now = allow_beneath(rules, descriptor, allowed);
  close(descriptor);
  return allowed_now;
}

bool allow_system(const Rules& rules, const Options& options) {
  for (const char* path : kPrograms) {
    if (!allow_path(rules, path, kExecute | kReadFile | kReadDir)) return false;
  }
  for (const char* path : kSettings) {
    if (!allow_path(rules, path, kReadFile)) return false;
  }
  if (options.network) {
    for (const char* path : kNetworkSettings) {
      if (!allow_path(rules, path, kReadFile | kReadDir)) return false;
    }
  }
  for (const char* path : kDevices) {
    if (!allow_path(rules, path, kReadFile)) return false;
  }
  return allow_path(rules, "/dev/null", kReadFile | kWriteFile);
}

constexpr uint64_t kChangeAll = kChange | kRefer | kTruncate | kIoctlDev;

bool allow_own(const Rules& rules, const Options& options) {
  if (!allow_path(rules, "/", kExecute | kReadFile | kReadDir)) return false;
  for (const char* path : kOwn) {
    if (!allow_path(rules, path, kChangeAll)) return false;
  }
  return !options.home || allow_path(rules, options.home, kChangeAll);
}

// What may be written may be executed: whoever builds something runs it.
bool add_rules(const Rules& rules, const Options& options) {
  if (!(options.isolated ? allow_own(rules, options) : allow_system(rules, options))) return false;
  for (int i = 0; i < options.grant_count; ++i) {
    const Grant& grant = options.grants[i];
    const uint64_t more = grant.writable ? kExecute | (kChangeAll & ~kIoctlDev) : 0;
    if (!allow_beneath(rules, grant.descriptor, kReadFile | kReadDir | more)) return false;
  }
  return true;
}

}  // namespace

int landlock_abi() {
  const long abi = syscall(kCreateRuleset, nullptr, 0, kAskVersion);
  return abi > 0 ? static_cast<int>(abi) : 0;
}

bool guards_truncation(int abi, const Options& options) {
  if (abi < 3) return false;
  const Grant* const end = options.grants + options.grant_count;
  return options.isolated ||
         std::any_of(options.grants, end, [](const Grant& grant) { return grant.writable; });
}

bool restrict_files(int abi, const Options& options, bool enclosed) {
  const Ruleset asked = ruleset_of(abi, options, enclosed);
  const Rules rules{static_cast<int>(syscall(kCreateRuleset, &asked, size_of(abi), 0)), asked.files};
  if (rules.descriptor < 0) return false;
  const bool restricted = add_rules(rules, options) && syscall(kRestrictSelf, rules.descriptor, 0) == 0;
  const int why = errno;
  close(rules.descriptor);
  errno = why;
  return restricted;
}

}  // namespace deputy::init
