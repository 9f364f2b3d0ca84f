#include "tools/file_tool.h"

#include <fmt/format.h>

#include "base/text.h"
#include "tools/content_kind.h"
#include "tools/sight.h"
#include "tools/wording.h"
#include "tools/workspace_path.h"

namespace deputy {
namespace {

using Content = std::optional<std::string>;

// Of the file as it is now; nothing where there is none.
std::expected<Content, ToolResult> content_of(const Target& target) {
  const std::string name = shown_path(target.name);
  const auto& status = target.place->status();
  if (!status) return std::nullopt;
  if (status->kind == EntryKind::folder)
    return std::unexpected(tool_error(fmt::format("{} is a folder. Name a file in it.", name)));
  auto content = target.place->read(0, FileTool::kMaxBytes + 1);
  if (!content) return std::unexpected(tool_error(to_text(content.error())));
  if (content->size() > FileTool::kMaxBytes) {
    return std::unexpected(tool_error(fmt::format("{} is larger than {} MiB, too large to be changed here.",
                                                  name, FileTool::kMaxBytes >> 20)));
  }
  return *std::move(content);
}

std::string digest_of(const Content& content) { return content ? sha256_hex(*content) : ""; }

// Nothing where the session knows the file as it is.
std::optional<ToolResult> unknown_to_session(const Target& target, const std::string& content,
                                             const FilesSeen* seen) {
  const std::string name = shown_path(target.name);
  if (const auto kind = kind_unless_text(std::string_view(content).substr(0, 8192)))
    return tool_error(
        fmt::format("{} is {}, not text: it is left as it is. Choose another name.", name, *kind));
  const auto known = seen != nullptr ? seen->find(target.path) : FilesSeen::const_iterator{};
  if (seen == nullptr || known == seen->end()) {
    return tool_error(
        fmt::format("{} exists, and you have not read it. Read it first, then change it.", name));
  }
  if (known->second == sha256_hex(content)) return std::nullopt;
  return tool_error(fmt::format(
      "{} has changed since you read it: somebody else writes it too. Read it again, then change it.", name));
}

ToolResult interrupted(const std::string& name) {
  return tool_error(
      fmt::format("Interrupted: {} is neither as it was before this call nor as the call would have left it, "
                  "so it was left "
                  "alone. Read it again.",
                  name));
}

}  // namespace

std::optional<std::string> FileTool::path(const json::object& arguments) const {
  return string_or(arguments, path_argument_, "");
}

std::string FileTool::in_full(const json::object& arguments) const { return shown_path(*path(arguments)); }

std::string FileTool::shown(const json::object& arguments) const { return shorten(in_full(arguments), 120); }

std::expected<Revision, ToolResult> FileTool::revised_within_bounds(const json::object& arguments,
                                                                    const Content& old,
                                                                    const std::string& name) const {
  auto revision = revised(arguments, old, name);
  if (!revision) return std::unexpected(tool_error(std::move(revision).error()));
  if (revision->content.size() > kMaxBytes) {
    return std::unexpected(
        tool_error(fmt::format("{} would have {}; at most {} MiB are written. Write less.", name,
                               counted(revision->content.size(), "byte"), kMaxBytes >> 20)));
  }
  if (old && revision->content == *old)
    return std::unexpected(tool_error(fmt::format("{} would stay as it is: nothing to change.", name)));
  return *std::move(revision);
}

Tool::Planned FileTool::planned(const json::object& arguments, const ToolContext& context) const {
  const Target& target = *context.target;
  auto old = content_of(target);
  if (!old) return std::unexpected(std::move(old).error());
  if (!*old && if_missing_ == IfMissing::refuse) {
    const auto sight = Sight::of(context);
    return std::unexpected(tool_error(sight ? not_there(target, *sight) : to_text(sight.error())));
  }
  if (*old) {
    if (auto refusal = unknown_to_session(target, **old, context.files_seen))
      return std::unexpected(*std::move(refusal));
  }
  auto revision = revised_within_bounds(arguments, *old, shown_path(target.name));
  if (!revision) return std::unexpected(std::move(revision).error());
  return FileChange{target.path, digest_of(*old), sha256_hex(revision->content)};
}

Task<Tool::Planned> FileTool::plan(json::object arguments, ToolContext context) {
  co_return co_await on_pool(context.loop, context.pool,
                             [this, &arguments, &context] { return planned(arguments, context); });
}

// On the pool. The same for a call that was just planned and for one that a crash broke off.
ToolResult FileTool::carried_out(const json::object& arguments, const Target& target,
                                 const FileChange& intent) const {
  const std::string name = shown_path(target.name);
  if (target.path != intent.path)
    return tool_error(fmt::format("The path leads to {} now, which was not meant. Call again.", name));
  const auto old = content_of(target);
  if (!old) return old.error();
  const std::string digest = digest_of(*old);
  if (digest == intent.after) return tool_ok(fmt::format("{} is changed as you wished.", name));
  if (digest != intent.before) return interrupted(name);
  const auto revision = revised_within_bounds(arguments, *old, name);
  if (!revision) return revision.error();
  const auto replaced = target.place->replace(revision->content, intent.before);
  if (!replaced) return tool_error(to_text(replaced.error()));
  return tool_ok(revision->said);
}

Task<ToolResult> FileTool::run(json::object arguments, ToolContext context) {
  if (!context.intent) co_return interrupted(shown_path(context.target->name));
  ToolResult result = co_await on_pool(context.loop, context.pool, [this, &arguments, &context] {
    return carried_out(arguments, *context.target, *context.intent);
  });
  if (result.status == ToolStatus::ok) {
    context.journal.ride_along({context.id.step, context.id.index}, FileTouched{*context.intent});
  }
  co_return result;
}

}  // namespace deputy
