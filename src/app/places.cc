#include "app/places.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <climits>

#include "base/disk_names.h"
#include "base/text.h"

namespace deputy {

Result<std::string> absolute_path(std::string_view path, std::string_view current) {
  if (path.empty()) return fail(ErrorCode::invalid, "a path is empty", "name a file or folder");
  if (!path.starts_with('/') && current.empty()) {
    return fail(ErrorCode::not_found, fmt::format("'{}' cannot be found: the current folder is gone", path),
                "give an absolute path");
  }
  return clean_path(join_path(current, path));
}

Result<std::string> state_folder(const CommonArguments& common, const Environment& environment,
                                 std::string_view current) {
  if (common.home) return absolute_path(*common.home, current);
  if (const auto home = environment.get("DEPUTY_HOME")) return absolute_path(*home, current);
  // A relative one is invalid by that variable's own rules.
  if (const auto state = environment.get("XDG_STATE_HOME"); state && state->starts_with('/')) {
    return absolute_path(join_path(*state, "deputy"), current);
  }
  if (const auto home = environment.get("HOME"))
    return absolute_path(join_path(*home, ".local/state/deputy"), current);
  return fail(ErrorCode::not_found, "there is no folder to keep state in: HOME is not set",
              "name one with --home or DEPUTY_HOME");
}

Result<std::string> read_named_file(const Disk& disk, std::string_view path, std::size_t most) {
  const auto [parent, leaf] = split_name(path);
  TRY(const auto folder, disk.open(parent.empty() ? "/" : parent, IfAbsent::fail));
  TRY(auto bytes, folder->read(leaf, 0, most + 1));
  if (bytes.size() > most) {
    return fail(ErrorCode::exhausted, fmt::format("{} is larger than {} bytes", path, with_thousands(most)),
                "name a smaller one");
  }
  return bytes;
}

std::string init_path() {
  char path[PATH_MAX];
  const ssize_t size = ::readlink("/proc/self/exe", path, sizeof path);  // seam: no file of ours
  if (size <= 0) return "./deputy-init";
  const std::string_view whole(path, static_cast<std::size_t>(size));
  return join_path(whole.substr(0, whole.rfind('/')), "deputy-init");
}

std::string shell_quoted(std::string_view word) {
  constexpr std::string_view kPlain = "-_./:=@%+,";
  const bool is_plain = std::ranges::all_of(word, [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || kPlain.contains(c);
  });
  if (is_plain && !word.empty()) return std::string(word);
  std::string quoted = "'";
  for (const char c : word) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

}  // namespace deputy
