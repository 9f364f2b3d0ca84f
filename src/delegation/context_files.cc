#include "delegation/context_files.h"

#include <fmt/format.h>

#include "base/text.h"
#include "tools/target.h"

namespace deputy {

namespace {

Result<std::string> context_file(const std::string& path, const Folder& workspace, const Sight& sight,
                                 const ContextBounds& bounds, const std::vector<const Folder*>& roots) {
  const auto target = find_target(workspace, roots, path);
  if (target && !sight.shows("Read", target->name, target->place->status().value_or(FileStatus{}))) {
    return fail(ErrorCode::denied,
                fmt::format("context file '{}' is kept back by permission rules", made_visible(path)),
                "leave it out");
  }
  auto bytes = target ? target->place->read(0, bounds.file_bytes + 1) : std::unexpected(target.error());
  if (!bytes) {
    return fail(bytes.error().code,
                fmt::format("context file '{}': {}", made_visible(path), bytes.error().message),
                "name a text file that you can read");
  }
  if (bytes->size() > bounds.file_bytes) {
    return fail(ErrorCode::exhausted,
                fmt::format("context file '{}' is larger than {} bytes", made_visible(path),
                            with_thousands(bounds.file_bytes)),
                "leave it out and let the child read the part it needs");
  }
  if (bytes->contains('\0')) {
    return fail(ErrorCode::invalid, fmt::format("context file '{}' is not text", made_visible(path)),
                "leave it out");
  }
  return to_utf8(*bytes);
}

}  // namespace

Result<std::string> with_context_files(std::string_view prompt, std::span<const std::string> paths,
                                       const Folder& workspace, const Sight& sight,
                                       const ContextBounds& bounds, const std::vector<const Folder*>& roots) {
  std::string text;
  for (const auto& path : paths) {
    TRY(const auto content, context_file(path, workspace, sight, bounds, roots));
    text +=
        fmt::format("=== {} ===\n{}{}\n", made_visible(path), content, content.ends_with('\n') ? "" : "\n");
    if (text.size() > bounds.task_bytes) {
      return fail(ErrorCode::exhausted,
                  fmt::format("the context files of this task are larger than {} bytes together",
                              with_thousands(bounds.task_bytes)),
                  "leave some out and let the child read them");
    }
  }
  text += prompt;
  return text;
}

}  // namespace deputy
