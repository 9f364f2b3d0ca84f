#include "sandbox/control_group.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <memory>

#include "base/disk.h"
#include "base/text.h"

namespace deputy {
namespace {

constexpr std::string_view kPrefix = "deputy-";

std::string read_small(const std::string& path) {
  const OwnedFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string text;
  char part[4096];
  for (ssize_t count = 1; file && count > 0;) {
    count = ::read(file.get(), part, sizeof part);
    if (count > 0) text.append(part, static_cast<std::size_t>(count));
  }
  return text;
}

Result<void> write_small(const std::string& path, std::string_view text) {
  const OwnedFd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (file && ::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size())) return {};
  return fail(ErrorCode::unavailable, error_from_errno(errno, "write to " + path).message);
}

bool has_word(std::string_view words, char separator, std::string_view wanted) {
  const auto all = split(trimmed(words), separator);
  return std::ranges::find(all, wanted) != all.end();
}

// The nearest group above this process whose children have limits on memory and processes. Its own never does
// as long as a process is in it, but sessions are mostly given to the user a few groups further up.
std::optional<std::string> parent_with_limits(const GroupPlaces& places) {
  std::string folder = *places.unified;
  while (folder.size() >= places.unified_top.size()) {
    const auto passed_on = read_small(folder + "/cgroup.subtree_control");
    if (has_word(passed_on, ' ', "memory") && has_word(passed_on, ' ', "pids")) return folder;
    folder.resize(std::min(folder.rfind('/'), folder.size()));
  }
  return std::nullopt;
}

// Groups of a deputy that was killed. What ran in them has ended with it.
void remove_leftovers_in(const std::string& parent) {
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(parent.c_str()), ::closedir);
  while (const dirent* entry = folder ? ::readdir(folder.get()) : nullptr) {
    std::string_view name = entry->d_name;
    if (!name.starts_with(kPrefix)) continue;
    name.remove_prefix(kPrefix.size());
    pid_t owner = 0;
    std::from_chars(name.data(), name.data() + name.size(), owner);
    if (owner > 0 && ::kill(owner, 0) != 0 && errno == ESRCH) {
      ::rmdir(join_path(parent, entry->d_name).c_str());  // never while somebody is in it
    }
  }
}

void remove_leftovers(const GroupPlaces& places) {
  const auto unified = places.unified ? parent_with_limits(places) : std::nullopt;
  for (const auto& parent : {unified, places.memory, places.pids}) {
    if (parent) remove_leftovers_in(*parent);
  }
}

// "…/name" where this process is in group `own` of a hierarchy that is mounted at `top` from `root` on.
std::string place_of(std::string_view own, std::string_view root, std::string_view top) {
  if (root != "/" && own.starts_with(root)) own.remove_prefix(root.size());
  return std::string(top) + (own == "/" ? "" : std::string(own));
}

}  // namespace

GroupPlaces find_group_places(std::string_view own_groups, std::string_view mounts) {
  GroupPlaces places;
  std::optional<std::string_view> own_unified, own_memory, own_pids;
  for (const auto line : lines_of(own_groups)) {  // NUMBER:CONTROLLERS:GROUP
    const auto first = line.find(':');
    const auto second = line.find(':', first == line.npos ? first : first + 1);
    if (second == line.npos) continue;
    const auto controllers = line.substr(first + 1, second - first - 1);
    const auto group = line.substr(second + 1);
    if (!group.starts_with('/') || group.contains("/..")) continue;
    if (controllers.empty()) own_unified = group;
    for (const auto controller : split(controllers, ',')) {
      if (controller == "memory") own_memory = group;
      if (controller == "pids") own_pids = group;
    }
  }
  for (const auto line : lines_of(mounts)) {  // … ROOT TOP … - TYPE SOURCE OPTIONS
    const auto words = split(line, ' ');
    const auto dash = std::ranges::find(words, "-");
    if (words.size() < 6 || words.end() - dash < 4) continue;
    const auto root = words[3];
    const auto top = words[4];
    const auto type = dash[1];
    const auto options = dash[3];
    if (type == "cgroup2" && own_unified && !places.unified) {
      places.unified = place_of(*own_unified, root, top);
      places.unified_top = top;
    }
    if (type != "cgroup") continue;
    if (own_memory && has_word(options, ',', "memory")) places.memory = place_of(*own_memory, root, top);
    if (own_pids && has_word(options, ',', "pids")) places.pids = place_of(*own_pids, root, top);
  }
  return places;
}

Result<void> ControlGroup::add(const std::string& parent, const std::string& name) {
  auto folder = join_path(parent, name);
  if (::mkdir(folder.c_str(), 0700) != 0) {
    return fail(ErrorCode::unavailable, error_from_errno(errno, "make the cgroup " + folder).message);
  }
  folders_.push_back(folder);
  OwnedFd entrance(::open((folder + "/cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC));
  if (!entrance)
    return fail(ErrorCode::unavailable, error_from_errno(errno, "open the cgroup " + folder).message);
  entrances_.push_back(std::move(entrance));
  return {};
}

Result<ControlGroup> ControlGroup::make(const ProcessLimits& limits) {
  static std::atomic<unsigned> count = 0;  // names are this process's, whoever asks in it
  const auto places = find_group_places(read_small("/proc/self/cgroup"), read_small("/proc/self/mountinfo"));
  const auto name = fmt::format("{}{}-{}", kPrefix, ::getpid(), ++count);
  const auto memory = std::to_string(limits.memory);
  const auto processes = std::to_string(limits.processes + 1);  // deputy-init is in it too
  ControlGroup group;
  if (count == 1) remove_leftovers(places);
  if (const auto parent = places.unified ? parent_with_limits(places) : std::nullopt) {
    TRY(group.add(*parent, name));
    TRY(write_small(group.folders_[0] + "/memory.max", memory));
    TRY(write_small(group.folders_[0] + "/pids.max", processes));
    (void)write_small(group.folders_[0] + "/memory.swap.max", "0");  // where swap is accounted for
    return group;
  }
  if (!places.memory || !places.pids) {
    return fail(ErrorCode::unavailable, "no cgroup here has limits on memory and processes");
  }
  TRY(group.add(*places.memory, name));
  TRY(write_small(group.folders_[0] + "/memory.limit_in_bytes", memory));
  (void)write_small(group.folders_[0] + "/memory.memsw.limit_in_bytes",
                    memory);  // where swap is accounted for
  TRY(group.add(*places.pids, name));
  TRY(write_small(group.folders_[1] + "/pids.max", processes));
  return group;
}

void ControlGroup::kill() const {
  for (const auto& folder : folders_) (void)write_small(folder + "/cgroup.kill", "1");
}

ControlGroup::~ControlGroup() {
  entrances_.clear();
  if (!folders_.empty()) kill();
  for (const auto& folder : folders_) ::rmdir(folder.c_str());  // if it fails, the next deputy tries again
}

}  // namespace deputy
