#include "tools/grep.h"

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
    R"(Searches file contents line by line for a regular expression (Rust syntax). Skips what .gitignore names, and hidden files unless path or glob name a dot. Prints path:line:text, or path-line-text for context.)";

constexpr std::string_view kSchema = R"json({
"type":"object",
"properties":{
"pattern":{"type":"string","minLength":1},
"path":{"type":"string","description":"file or folder (default: the workspace)"},
"glob":{"type":"string","description":"only files such as *.rs or src/**"},
"output_mode":{"type":"string","enum":["content","files_with_matches","count"],"description":"default: content"},
"case_insensitive":{"type":"boolean"},
"context":{"type":"integer","minimum":0,"maximum":20,"description":"lines around each match"},
"head_limit":{"type":"integer","minimum":1,"description":"rows shown at most (250)"}},
"required":["pattern"],
"additionalProperties":false})json";

constexpr std::size_t kSummaryBytes = 2048;

enum class Mode { content, files, count };

struct Query {
  std::string pattern;
  std::string glob;
  Mode mode = Mode::content;
  bool ignores_case = false;
  std::int64_t context = 0;
  std::size_t rows = GrepTool::kDefaultRows;
};

Query query_of(const json::object& arguments) {
  const std::string mode = string_or(arguments, "output_mode", "content");
  return {.pattern = string_or(arguments, "pattern", ""),
          .glob = string_or(arguments, "glob", ""),
          .mode = mode == "count"                ? Mode::count
                  : mode == "files_with_matches" ? Mode::files
                                                 : Mode::content,
          .ignores_case = bool_at(arguments, "case_insensitive").value_or(false),
          .context = integer_or(arguments, "context", 0),
          .rows = static_cast<std::size_t>(integer_or(arguments, "head_limit", GrepTool::kDefaultRows))};
}

std::vector<std::string> options_for(const Query& query, const SearchScope& scope) {
  std::vector<std::string> options = scope.narrowing();
  switch (query.mode) {
    case Mode::content:
      options.insert(options.end(), {"--json", "--context", std::to_string(query.context)});
      break;
    case Mode::files:
      options.insert(options.end(), {"--null", "--files-with-matches"});
      break;
    case Mode::count:
      options.insert(options.end(), {"--null", "--with-filename", "--count"});
      break;
  }
  if (query.ignores_case) options.push_back("--ignore-case");
  options.insert(options.end(), {"-e", query.pattern});
  return options;
}

std::vector<FoundFile> files_of(Mode mode, std::string_view output) {
  if (mode == Mode::content) return parse_rg_json(output);
  if (mode == Mode::count) return parse_rg_counts(output);
  std::vector<FoundFile> files;
  for (std::string& path : parse_rg_paths(output)) files.push_back({.path = std::move(path)});
  return files;
}

struct Found {
  std::vector<FoundFile> files;
  std::size_t matches = 0;
  std::size_t withheld = 0;
};

Found shown_of(std::vector<FoundFile> files, const SearchScope& scope) {
  Found found;
  for (FoundFile& file : files) {
    const auto answer = scope.judge_content(file.path);
    if (answer == SearchScope::Answer::withheld) ++found.withheld;
    if (answer != SearchScope::Answer::shown) continue;
    found.matches += file.matches;
    found.files.push_back(std::move(file));
  }
  std::ranges::sort(found.files, {}, &FoundFile::path);
  return found;
}

struct Rows {
  std::string text;
  std::size_t shown = 0;
  bool all = true;
};

// Blocks of neighbouring lines are parted by "--" where context was asked for.
Rows content_rows(const std::vector<FoundFile>& files, const Query& query) {
  Rows rows;
  for (const FoundFile& file : files) {
    const std::string path = shown_path(file.path);
    std::int64_t before = -1;
    for (const FoundLine& line : file.lines) {
      if (rows.shown == query.rows) {
        rows.all = false;
        return rows;
      }
      if (query.context > 0 && rows.shown > 0 && line.number != before + 1) rows.text += "--\n";
      before = line.number;
      const char mark = line.is_match ? ':' : '-';
      rows.text += fmt::format("{}{}{}{}{}\n", path, mark, line.number, mark, line.text);
      ++rows.shown;
    }
  }
  return rows;
}

Rows file_rows(const std::vector<FoundFile>& files, const Query& query) {
  Rows rows{.all = files.size() <= query.rows};
  for (const FoundFile& file : files) {
    if (rows.shown++ == query.rows) break;
    rows.text += shown_path(file.path);
    rows.text += query.mode == Mode::count ? fmt::format(":{}\n", file.matches) : "\n";
  }
  return rows;
}

std::string summary_of(const Found& found, const Query& query, const SearchScope& scope, bool shows_all) {
  if (found.files.empty()) {
    const std::string glob =
        query.glob.empty() ? "" : fmt::format(", files {}", shorten(shown_path(query.glob), 200));
    return fmt::format("No matches for {} in {}{}. {}\n", shorten(shown_path(query.pattern), 200),
                       scope.shown(), glob,
                       scope.hidden() == Hidden::skip ? "Hidden and ignored files were not searched."
                                                      : "Ignored files were not searched.");
  }
  const std::string files = counted(found.files.size(), "file");
  const std::string what = query.mode == Mode::files
                               ? files
                               : fmt::format("{} in {}", counted(found.matches, "matching line"), files);
  const std::string first =
      shows_all
          ? ""
          : fmt::format("; the first {} rows follow: narrow the search or raise head_limit", query.rows);
  return fmt::format("[{}{}]\n", what, first);
}

// On the pool.
std::string found_text(const Searched& searched, const SearchScope& scope, const Query& query,
                       std::size_t max_bytes) {
  const Found found = shown_of(files_of(query.mode, searched.output), scope);
  const Rows rows =
      query.mode == Mode::content ? content_rows(found.files, query) : file_rows(found.files, query);
  std::string text = summary_of(found, query, scope, rows.all);
  text += bounded(rows.text, max_bytes - kSummaryBytes).text;
  if (!text.ends_with('\n')) text += '\n';
  if (found.withheld > 0)
    text += fmt::format("[{} withheld by permission rules]\n", counted(found.withheld, "file"));
  if (!searched.warning.empty()) text += fmt::format("[{}]\n", searched.warning);
  return text;
}

// On the pool. Nothing is wrong where the answer is empty.
std::string trouble_with_path(const SearchScope& scope) {
  return scope.target().place->status() ? "" : not_there(scope.target(), scope.sight());
}

}  // namespace

const ToolText& GrepTool::text() const {
  static const ToolText text{"Grep", std::string(kDescription), std::string(kSchema)};
  return text;
}

std::string GrepTool::in_full(const json::object& arguments) const {
  const std::string path = string_or(arguments, "path", "");
  const std::string pattern = string_or(arguments, "pattern", "");
  return shown_path(path.empty() ? pattern : fmt::format("{} in {}", pattern, path));
}

std::string GrepTool::shown(const json::object& arguments) const { return shorten(in_full(arguments), 120); }

std::optional<std::string> GrepTool::path(const json::object& arguments) const {
  return string_or(arguments, "path", ".");
}

Task<ToolResult> GrepTool::run(json::object arguments, ToolContext context) {
  const Query query = query_of(arguments);
  auto made = SearchScope::make(context, text().name, query.glob);
  if (!made) co_return tool_error(to_text(made.error()));
  const SearchScope& scope = *made;
  std::string trouble =
      co_await on_pool(context.loop, context.pool, [&scope] { return trouble_with_path(scope); });
  if (!trouble.empty()) co_return tool_error(std::move(trouble));
  auto searched = co_await run_ripgrep(options_for(query, scope), scope.hidden(), context);
  if (!searched) co_return std::move(searched).error();
  const std::size_t max_bytes = most_result_bytes();
  co_return tool_ok(co_await on_pool(context.loop, context.pool, [&searched, &scope, &query, max_bytes] {
    return found_text(*searched, scope, query, max_bytes);
  }));
}

}  // namespace deputy
