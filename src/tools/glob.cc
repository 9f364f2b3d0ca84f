#include "tools/glob.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "tools/rg_output.h"
#include "tools/search_scope.h"
#include "tools/wording.h"
#include "tools/workspace_path.h"

namespace deputy {
namespace {

constexpr std::string_view kDescription =
    R"(Finds files by path, such as **/*.cc or src/**/*.{ts,tsx}; a pattern without / matches names at any depth. Skips what .gitignore names, and hidden files unless the pattern names a dot.)";

constexpr std::string_view kSchema = R"json({
"type":"object",
"properties":{
"pattern":{"type":"string","minLength":1},
"path":{"type":"string","description":"folder to look in (default: the workspace)"}},
"required":["pattern"],
"additionalProperties":false})json";

constexpr std::size_t kSummaryBytes = 2048;

// On the pool.
std::string found_text(const Searched& searched, const SearchScope& scope, const std::string& pattern,
                       std::size_t max_bytes) {
  std::vector<std::string> paths;
  std::size_t withheld = 0;
  for (std::string& path : parse_rg_paths(searched.output)) {
    const auto answer = scope.judge_name(path);
    if (answer == SearchScope::Answer::shown) paths.push_back(std::move(path));
    if (answer == SearchScope::Answer::withheld) ++withheld;
  }
  std::ranges::sort(paths);
  std::string rows;
  for (const std::string& path : paths) rows.append(shown_path(path)).append(1, '\n');
  std::string text = paths.empty() ? fmt::format("No files match {} in {}.\n",
                                                 shorten(shown_path(pattern), 200), scope.shown())
                                   : fmt::format("[{}]\n", counted(paths.size(), "file"));
  text += bounded(rows, max_bytes - kSummaryBytes).text;
  if (withheld > 0) text += fmt::format("[{} withheld by permission rules]\n", counted(withheld, "file"));
  if (!searched.warning.empty()) text += fmt::format("[{}]\n", searched.warning);
  return text;
}

// On the pool. Nothing is wrong where the answer is empty.
std::string trouble_with_folder(const SearchScope& scope) {
  const auto& status = scope.target().place->status();
  if (!status) return not_there(scope.target(), scope.sight());
  if (status->kind == EntryKind::folder) return {};
  return fmt::format("{} is a file. Give a folder as path, or leave it out.", scope.shown());
}

}  // namespace

const ToolText& GlobTool::text() const {
  static const ToolText text{"Glob", std::string(kDescription), std::string(kSchema)};
  return text;
}

std::string GlobTool::in_full(const json::object& arguments) const {
  const std::string path = string_or(arguments, "path", "");
  const std::string pattern = string_or(arguments, "pattern", "");
  return shown_path(path.empty() ? pattern : fmt::format("{} in {}", pattern, path));
}

std::string GlobTool::shown(const json::object& arguments) const { return shorten(in_full(arguments), 120); }

std::optional<std::string> GlobTool::path(const json::object& arguments) const {
  return string_or(arguments, "path", ".");
}

Task<ToolResult> GlobTool::run(json::object arguments, ToolContext context) {
  const std::string pattern = string_or(arguments, "pattern", "");
  auto made = SearchScope::make(context, text().name, pattern);
  if (!made) co_return tool_error(to_text(made.error()));
  const SearchScope& scope = *made;
  std::string trouble =
      co_await on_pool(context.loop, context.pool, [&scope] { return trouble_with_folder(scope); });
  if (!trouble.empty()) co_return tool_error(std::move(trouble));
  std::vector<std::string> options = scope.narrowing();
  options.insert(options.end(), {"--files", "--null"});
  auto searched = co_await run_ripgrep(std::move(options), scope.hidden(), context);
  if (!searched) co_return std::move(searched).error();
  const std::size_t max_bytes = most_result_bytes();
  co_return tool_ok(co_await on_pool(context.loop, context.pool, [&searched, &scope, &pattern, max_bytes] {
    return found_text(*searched, scope, pattern, max_bytes);
  }));
}

}  // namespace deputy
