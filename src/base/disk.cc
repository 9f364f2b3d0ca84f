#include "base/disk.h"

#include <fmt/format.h>

#include "base/disk_names.h"
#include "base/text.h"

namespace deputy {

std::string join_path(std::string_view folder, std::string_view name) {
  if (name.starts_with('/') || folder.empty()) return std::string(name);
  if (name.empty() || name == ".") return std::string(folder);
  std::string path(folder);
  if (!path.ends_with('/')) path += '/';
  return path.append(name);
}

std::string clean_path(std::string_view path) {
  std::string clean = path.starts_with('/') ? "/" : "";
  for (std::string_view part : split(path, '/')) {
    if (part.empty() || part == ".") continue;
    if (!clean.empty() && clean.back() != '/') clean += '/';
    clean += part;
  }
  return clean.empty() ? "." : clean;
}

Result<std::string> name_beneath(std::string_view folder, std::string_view name) {
  if (name.contains('\0')) {
    return fail(ErrorCode::invalid, fmt::format("the name \"{}\" contains a NUL byte", made_visible(name)),
                "leave it out");
  }
  std::string clean = clean_path(name);
  if (!clean.starts_with('/')) return clean;
  if (clean == folder) return ".";
  const std::string prefix = folder.ends_with('/') ? std::string(folder) : std::string(folder) + '/';
  if (!clean.starts_with(prefix)) return std::unexpected(outside_folder(clean, folder));
  return clean.substr(prefix.size());
}

Result<void> check_absolute(std::string_view path) {
  if (path.starts_with('/') && !path.contains('\0')) return {};
  return fail(ErrorCode::invalid, fmt::format("\"{}\" is not an absolute path", made_visible(path)),
              "begin it with /");
}

SplitName split_name(std::string_view clean_name) {
  const std::size_t slash = clean_name.rfind('/');
  if (slash == std::string_view::npos) return {".", std::string(clean_name)};
  return {std::string(clean_name.substr(0, slash)), std::string(clean_name.substr(slash + 1))};
}

Result<void> check_leaf(const SplitName& name, std::string_view whole) {
  if (name.leaf != "." && name.leaf != "..") return {};
  return fail(ErrorCode::invalid, fmt::format("{} does not name something in a folder", whole),
              "name a file or a folder by its own name");
}

Error outside_folder(std::string_view name, std::string_view folder) {
  return {ErrorCode::denied, fmt::format("{} leads outside {}", name, folder),
          fmt::format("name something that lies in {}", folder)};
}

}  // namespace deputy
