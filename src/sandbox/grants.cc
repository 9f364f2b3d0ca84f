#include "sandbox/grants.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <climits>

namespace deputy {
namespace {

// Where the kernel says that it stands.
Result<std::string> path_of(const OwnedFd& descriptor) {
  std::array<char, PATH_MAX> path;
  const auto link = fmt::format("/proc/self/fd/{}", descriptor.get());
  const ssize_t size = ::readlink(link.c_str(), path.data(), path.size());
  if (size < 0) return std::unexpected(error_from_errno(errno, "find out where a folder stands"));
  return std::string(path.data(), static_cast<std::size_t>(size));
}

Result<GrantedFolder> granted(OwnedFd descriptor, std::string given, Access access) {
  TRY(auto path, path_of(descriptor));
  return GrantedFolder{std::move(descriptor), std::move(path), std::move(given), access};
}

Result<GrantedFolder> open_folder(const ProcessSpec& spec) {
  if (spec.folder->descriptor() < 0) {
    return fail(ErrorCode::invalid,
                fmt::format("a process cannot start in {}: it is not on the disk", spec.folder->path()),
                "use a folder of a SystemDisk");
  }
  OwnedFd descriptor(::openat(spec.folder->descriptor(), ".", O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!descriptor) return std::unexpected(error_from_errno(errno, "enter " + spec.folder->path()));
  return granted(std::move(descriptor), spec.folder->path(), spec.folder_access);
}

Result<GrantedFolder> open_root(const Root& root) {
  if (!root.path.starts_with('/') || root.path.contains('\0')) {
    return fail(ErrorCode::invalid, fmt::format("\"{}\" cannot be given to a process", root.path),
                "give an absolute path");
  }
  OwnedFd descriptor(::open(root.path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!descriptor) return std::unexpected(error_from_errno(errno, "open the folder " + root.path));
  return granted(std::move(descriptor), root.path, root.access);
}

}  // namespace

bool is_within(std::string_view path, std::string_view folder) {
  if (!path.starts_with(folder)) return false;
  return path.size() == folder.size() || folder.ends_with('/') || path[folder.size()] == '/';
}

Result<std::vector<GrantedFolder>> open_grants(const ProcessSpec& spec) {
  if (spec.roots.size() > kMostRoots) {
    return fail(
        ErrorCode::invalid,
        fmt::format("{} folders were given to a process; {} are the most", spec.roots.size(), kMostRoots),
        "name folders that contain them");
  }
  std::vector<GrantedFolder> grants;
  if (spec.folder) {
    TRY(auto folder, open_folder(spec));
    grants.push_back(std::move(folder));
  }
  for (const Root& wanted : spec.roots) {
    TRY(auto root, open_root(wanted));
    const bool touches_folder =
        spec.folder && (is_within(root.path, grants[0].path) || is_within(grants[0].path, root.path));
    if (touches_folder && spec.folder_access == Access::read) root.access = Access::read;
    grants.push_back(std::move(root));
  }
  return grants;
}

}  // namespace deputy
