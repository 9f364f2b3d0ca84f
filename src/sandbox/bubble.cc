#include "sandbox/bubble.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <map>
#include <span>

#include "base/disk_names.h"

namespace deputy {
namespace {

constexpr std::string_view kOwnSize = "1073741824";  // bytes that /tmp, /run and HOME hold at most, each
constexpr const char* kPrograms[] = {"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"};
// Not the rest of /etc: it holds keys and password hashes, which root may read.
constexpr const char* kSettings[] = {"/etc/ld.so.cache",   "/etc/alternatives",   "/etc/localtime",
                                     "/etc/nsswitch.conf", "/etc/passwd",         "/etc/group",
                                     "/etc/hosts",         "/etc/services",       "/etc/protocols",
                                     "/etc/ssl/certs",     "/etc/ssl/openssl.cnf"};
constexpr const char* kNetworkSettings[] = {"/etc/resolv.conf", "/etc/host.conf", "/etc/gai.conf"};
constexpr const char* kNotForWork[] = {"/proc", "/sys", "/dev"};
constexpr const char* kNotForHome[] = {"/usr", "/etc", "/bin", "/sbin", "/lib", "/proc", "/sys", "/dev"};
constexpr char kState[] = ".deputy";

struct Mount {
  // pinned: it can do what the folder can that it lies in, but not be moved.
  enum class Kind { read, write, pinned, own, hidden, closed, no_file };
  Kind kind = Kind::read;
  OwnedFd source;  // of the first three
};

// By path, so that a folder comes before what lies in it. What is put in first stays, unless it is only
// pinned.
using Mounts = std::map<std::string, Mount>;

OwnedFd open_in(const OwnedFd& folder, const char* name, int flags) {
  return OwnedFd(::openat(folder.get(), name, O_PATH | O_NOFOLLOW | O_CLOEXEC | flags));
}

class Builder {
 public:
  Builder(const ProcessSpec& spec, const std::vector<GrantedFolder>& grants, const SandboxSettings& settings,
          int first_descriptor)
      : spec_(spec), grants_(grants), settings_(settings), first_descriptor_(first_descriptor) {}

  Result<Bubble> build() {
    if (const std::size_t count = spec_.hidden.size() + spec_.fixed.size(); count > kMostKeptBack) {
      return fail(
          ErrorCode::invalid,
          fmt::format("{} files and folders would have to be kept back from a process; {} are the most",
                      count, kMostKeptBack),
          "keep back the folders that they lie in");
    }
    for (const auto& grant : grants_) TRY(add_grant(grant));
    for (const auto& grant : grants_) {
      if (grant.access == Access::write) TRY(guard_git(grant));
      TRY(hide_state(grant));
    }
    for (const auto& path : settings_.hidden) TRY(hide(path));
    for (const auto& path : spec_.hidden) TRY(keep_back(path, Mount::Kind::closed));
    for (const auto& path : spec_.fixed) TRY(keep_back(path, Mount::Kind::read));
    add_home();
    add_namespaces();
    add_system();
    add_mounts();
    return Bubble{std::move(arguments_), std::move(descriptors_), std::move(home_)};
  }

 private:
  void say(std::initializer_list<std::string_view> words) {
    arguments_.insert(arguments_.end(), words.begin(), words.end());
  }

  Result<void> add_grant(const GrantedFolder& grant) {
    const auto holds = [&](const char* folder) { return is_within(grant.path, folder); };
    if (grant.path == "/" || std::ranges::any_of(kNotForWork, holds)) {
      return fail(ErrorCode::invalid, fmt::format("{} cannot be given to an isolated process", grant.path),
                  "choose a folder with your own files");
    }
    TRY(put(grant.path, grant.access == Access::write ? Mount::Kind::write : Mount::Kind::read,
            OwnedFd(::fcntl(grant.descriptor.get(), F_DUPFD_CLOEXEC, 0))));
    return {};
  }

  Result<void> put(std::string path, Mount::Kind kind, OwnedFd source) {
    if (!source) return std::unexpected(error_from_errno(errno, "pass on " + path));
    const auto [at, is_new] = mounts_.try_emplace(std::move(path), kind, std::move(source));
    if (!is_new && at->second.kind == Mount::Kind::pinned) at->second = {kind, std::move(source)};
    return {};
  }

  // What is not there need not be kept back; for any other reason (errno) nothing may be passed over.
  static Result<void> unless_absent(const std::string& path) {
    if (errno == ENOENT) return {};
    return std::unexpected(error_from_errno(errno, "keep " + path + " back"));
  }

  // Nothing of it can be changed: besides config and hooks it may name, in a file that is not there yet,
  // another folder to take them from. Being a mount point it cannot be renamed either. A link could be turned
  // elsewhere.
  Result<void> guard_git(const GrantedFolder& grant) {
    const std::string path = join_path(grant.path, ".git");
    struct stat found{};
    if (::fstatat(grant.descriptor.get(), ".git", &found, AT_SYMLINK_NOFOLLOW) != 0)
      return unless_absent(path);
    if (S_ISLNK(found.st_mode)) {
      return fail(ErrorCode::denied,
                  fmt::format("{} is a link: a command could change what it leads to", path),
                  "put the folder itself there");
    }
    return put(path, Mount::Kind::read, open_in(grant.descriptor, ".git", 0));
  }

  // Where a person keeps rules for deputy, and deputy its children's folders.
  Result<void> hide_state(const GrantedFolder& grant) {
    const std::string path = join_path(grant.path, kState);
    struct stat found{};
    if (::fstatat(grant.descriptor.get(), kState, &found, AT_SYMLINK_NOFOLLOW) != 0)
      return unless_absent(path);
    if (S_ISLNK(found.st_mode) && grant.access == Access::write) {
      return fail(ErrorCode::denied,
                  fmt::format("{} is a link: a command could change what it leads to", path),
                  "put the folder itself there");
    }
    if (S_ISDIR(found.st_mode)) mounts_.try_emplace(path, Mount::Kind::hidden);
    return {};
  }

  Result<void> hide(const std::string& path) {
    std::array<char, PATH_MAX> resolved;
    if (!::realpath(path.c_str(), resolved.data())) return unless_absent(path);
    const std::string_view where = resolved.data();
    for (const auto& grant : grants_) {
      if (!is_within(where, grant.path)) continue;
      mounts_.try_emplace(std::string(where), Mount::Kind::hidden);
      if (grant.access == Access::write && where.size() > grant.path.size())
        TRY(pin_above(grant, std::string(where.substr(grant.path.size() + 1))));
    }
    return {};
  }

  // The innermost folder that was granted and holds it.
  const GrantedFolder* grant_of(const std::string& path) const {
    const GrantedFolder* found = nullptr;
    for (const auto& grant : grants_) {
      if (is_within(path, grant.given) && (!found || grant.given.size() > found->given.size()))
        found = &grant;
    }
    return found;
  }

  Result<void> keep_back(const std::string& path, Mount::Kind kind) {
    const GrantedFolder* grant = grant_of(path);
    if (!grant || path.size() <= grant->given.size()) return {};
    const std::string name = path.substr(grant->given.size() + (grant->given.ends_with('/') ? 0 : 1));
    if (lies_in_what_is_closed(*grant, name)) return {};
    OwnedFd found = open_name(*grant, name);
    struct stat status{};
    if (!found || ::fstat(found.get(), &status) != 0) return unless_absent(path);
    if (grant->access == Access::write) TRY(pin_above(*grant, name));
    const bool is_closed_file = kind == Mount::Kind::closed && !S_ISDIR(status.st_mode);
    return put(join_path(grant->path, name), is_closed_file ? Mount::Kind::no_file : kind, std::move(found));
  }

  // What is mounted in a closed folder would be seen again.
  bool lies_in_what_is_closed(const GrantedFolder& grant, const std::string& name) const {
    for (std::size_t end = name.find('/'); end != std::string::npos; end = name.find('/', end + 1)) {
      const auto above = mounts_.find(join_path(grant.path, name.substr(0, end)));
      if (above != mounts_.end() && above->second.kind == Mount::Kind::closed) return true;
    }
    return false;
  }

  // A folder that is moved takes what is mounted in it along, to a name that nobody keeps back next time.
  // What is a mount point itself is not moved.
  Result<void> pin_above(const GrantedFolder& grant, const std::string& name) {
    for (std::size_t end = name.find('/'); end != std::string::npos; end = name.find('/', end + 1)) {
      const std::string above = name.substr(0, end);
      const std::string path = join_path(grant.path, above);
      if (!mounts_.contains(path)) TRY(put(path, Mount::Kind::pinned, open_name(grant, above)));
    }
    return {};
  }

  static OwnedFd open_name(const GrantedFolder& grant, const std::string& name) {
    open_how how{};
    how.flags = O_PATH | O_CLOEXEC;
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS;
    return OwnedFd(
        static_cast<int>(::syscall(SYS_openat2, grant.descriptor.get(), name.c_str(), &how, sizeof how)));
  }

  void add_home() {
    const auto found = spec_.environment.find("HOME");
    if (found == spec_.environment.end()) return;
    const std::string& path = found->second;
    if (!path.starts_with('/') || path == "/" || path != clean_path(path) || path.contains("/..")) return;
    const auto lies_in = [&](std::string_view folder) { return is_within(path, folder); };
    if (std::ranges::any_of(grants_, lies_in, &GrantedFolder::path)) return;
    if (std::ranges::any_of(kNotForHome, lies_in) || path == "/tmp" || path == "/run") return;
    mounts_.try_emplace(path, Mount::Kind::own);
    home_ = path;
  }

  // Without --die-with-parent: where bwrap died with us before it let its child go on, that would wait for
  // ever. So bwrap comes to its end, and deputy-init finds its life line cut.
  void add_namespaces() {
    say({"--as-pid-1", "--unshare-user-try", "--unshare-pid", "--unshare-ipc", "--unshare-uts",
         "--unshare-cgroup-try"});
    if (!spec_.network) say({"--unshare-net"});
  }

  void add_system() {
    say({"--ro-bind", "/usr", "/usr"});
    for (const char* path : kPrograms) {
      if (!add_link(path) && ::access(path, F_OK) == 0) say({"--ro-bind", path, path});
    }
    add_settings(kSettings);
    if (spec_.network) add_settings(kNetworkSettings);
    say({"--proc", "/proc", "--dev", "/dev"});
    for (const char* path : {"/tmp", "/run"}) say({"--perms", "1777", "--size", kOwnSize, "--tmpfs", path});
    say({"--ro-bind", settings_.init_path, kInitInside});
  }

  // Links and copies, because a mount takes half a millisecond.
  void add_settings(std::span<const char* const> paths) {
    for (const char* path : paths) {
      if (add_link(path)) continue;
      OwnedFd opened(::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK));
      struct stat found{};
      if (!opened || ::fstat(opened.get(), &found) != 0) continue;
      if (S_ISREG(found.st_mode)) {
        say({"--perms", "0444", "--file", pass(std::move(opened)), path});
      } else if (S_ISDIR(found.st_mode)) {
        say({"--ro-bind", path, path});
      }
    }
  }

  bool add_link(const char* path) {
    std::array<char, PATH_MAX> target;
    const ssize_t size = ::readlink(path, target.data(), target.size());
    if (size <= 0) return false;
    const std::string_view where(target.data(), static_cast<std::size_t>(size));
    // One that leads out of what is seen is replaced by what it leads to.
    if (where.starts_with('/') && !where.starts_with("/usr/")) return false;
    if (where.starts_with("../") && std::string_view(path).starts_with("/etc/") &&
        !where.starts_with("../usr/"))
      return false;
    say({"--symlink", where, path});
    return true;
  }

  // The number under which bwrap will find it.
  std::string pass(OwnedFd descriptor) {
    descriptors_.push_back(std::move(descriptor));
    return std::to_string(first_descriptor_ + static_cast<int>(descriptors_.size()) - 1);
  }

  bool lies_in_what_is_fixed(std::string_view path) const {
    for (std::size_t end = path.rfind('/'); end != 0; end = path.rfind('/', end - 1)) {
      const auto above = mounts_.find(std::string(path.substr(0, end)));
      if (above != mounts_.end() && above->second.kind != Mount::Kind::pinned)
        return above->second.kind == Mount::Kind::read;
    }
    return false;
  }

  void add_mounts() {
    std::vector<std::string_view> sealed;
    for (auto& [path, mount] : mounts_) {
      switch (mount.kind) {
        case Mount::Kind::read:
        case Mount::Kind::write:
        case Mount::Kind::pinned: {
          const bool is_fixed = mount.kind == Mount::Kind::pinned ? lies_in_what_is_fixed(path)
                                                                  : mount.kind == Mount::Kind::read;
          say({is_fixed ? "--ro-bind-fd" : "--bind-fd", pass(std::move(mount.source)), path});
          break;
        }
        case Mount::Kind::hidden:
          sealed.push_back(path);
          [[fallthrough]];
        case Mount::Kind::own:
          say({"--perms", "0700", "--size", kOwnSize, "--tmpfs", path});
          break;
        case Mount::Kind::closed:
          sealed.push_back(path);
          say({"--perms", "0111", "--tmpfs", path});
          break;
        case Mount::Kind::no_file:
          // Devices cannot be opened in there, so this one stands for what cannot be opened.
          say({"--ro-bind", "/dev/null", path});
          break;
      }
    }
    // Last, because what is granted inside them needs mount points.
    for (const auto path : sealed) say({"--remount-ro", path});
    say({"--remount-ro", "/"});
  }

  const ProcessSpec& spec_;
  const std::vector<GrantedFolder>& grants_;
  const SandboxSettings& settings_;
  Mounts mounts_;
  std::optional<std::string> home_;
  std::vector<std::string> arguments_;
  std::vector<OwnedFd> descriptors_;
  int first_descriptor_;
};

}  // namespace

Result<Bubble> make_bubble(const ProcessSpec& spec, const std::vector<GrantedFolder>& grants,
                           const SandboxSettings& settings, int first_descriptor) {
  return Builder(spec, grants, settings, first_descriptor).build();
}

}  // namespace deputy
