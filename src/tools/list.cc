#include "tools/list.h"

#include <fmt/format.h>

#include "base/text.h"
#include "tools/sight.h"
#include "tools/wording.h"
#include "tools/workspace_path.h"

namespace deputy {
namespace {

constexpr std::string_view kDescription =
    R"(Lists one folder of the workspace: folders end in /, files have their size.)";

constexpr std::string_view kSchema = R"json({
"type":"object",
"properties":{"path":{"type":"string","description":"the folder (default: the workspace)"}},
"additionalProperties":false})json";

constexpr std::size_t kSummaryBytes = 512;

struct Listing {
  std::string rows;
  std::size_t folders = 0;
  std::size_t files = 0;  // and all that is not a folder
  std::size_t withheld = 0;
};

std::string row(const Entry& entry) {
  const std::string name = shown_path(entry.name);
  switch (entry.status.kind) {
    case EntryKind::folder:
      return name + "/\n";
    case EntryKind::link:
      return name + "  (link)\n";
    case EntryKind::other:
      return name + "  (pipe, socket or device)\n";
    case EntryKind::file:
      break;
  }
  return fmt::format("{}  {}\n", name, counted(entry.status.size, "byte"));
}

Listing listing_of(const std::vector<Entry>& entries, const std::string& path, const Sight& sight) {
  Listing listing;
  for (const Entry& entry : entries) {
    if (!sight.shows("List", path == "." ? entry.name : join_path(path, entry.name))) {
      ++listing.withheld;
      continue;
    }
    ++(entry.status.kind == EntryKind::folder ? listing.folders : listing.files);
    listing.rows += row(entry);
  }
  return listing;
}

// On the pool.
ToolResult list_folder(const Target& target, const Sight& sight, std::size_t max_bytes) {
  const std::string path = shown_path(target.name);
  const auto& status = target.place->status();
  if (!status) return tool_error(not_there(target, sight));
  if (status->kind != EntryKind::folder) {
    return tool_error(
        fmt::format("{} is a file of {}, not a folder. Use Read.", path, counted(status->size, "byte")));
  }
  const auto entries = target.place->list();
  if (!entries) return tool_error(to_text(entries.error()));
  const Listing listing = listing_of(*entries, target.name, sight);
  std::string summary = entries->empty() ? "empty"
                                         : fmt::format("{}, {}", counted(listing.folders, "folder"),
                                                       counted(listing.files, "file"));
  if (listing.withheld > 0) summary += fmt::format("; {} withheld by permission rules", listing.withheld);
  return tool_ok(fmt::format("[{}: {}]\n{}", shorten(path, 200), summary,
                             bounded(listing.rows, max_bytes - kSummaryBytes * 2).text));
}

}  // namespace

const ToolText& ListTool::text() const {
  static const ToolText text{"List", std::string(kDescription), std::string(kSchema)};
  return text;
}

std::string ListTool::in_full(const json::object& arguments) const { return shown_path(*path(arguments)); }

std::string ListTool::shown(const json::object& arguments) const { return shorten(in_full(arguments), 120); }

std::optional<std::string> ListTool::path(const json::object& arguments) const {
  return string_or(arguments, "path", ".");
}

Task<ToolResult> ListTool::run(json::object, ToolContext context) {
  auto sight = Sight::of(context);
  if (!sight) co_return tool_error(to_text(sight.error()));
  co_return co_await on_pool(context.loop, context.pool,
                             [target = *context.target, sight = *std::move(sight),
                              max = most_result_bytes()] { return list_folder(target, sight, max); });
}

}  // namespace deputy
