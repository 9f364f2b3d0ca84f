#include "delegation/report_desk.h"

#include <fmt/format.h>

#include "base/json.h"
#include "base/text.h"
#include "delegation/report_pruning.h"
#include "tools/target.h"

namespace deputy {
namespace {

bool is_there(const Folder& workspace, const std::vector<const Folder*>& roots, const std::string& path) {
  const auto target = find_target(workspace, roots, path);
  return target && target->place->status();
}

ReportedError struck(const Artifact& artifact) {
  return {.type = "artifact_missing",
          .code = "ARTIFACT_MISSING",
          .message = fmt::format("the artifact '{}' that it names does not exist", artifact.path),
          .recoverable = true,
          .recommendation = "do not rely on it; have the work checked"};
}

Report without_missing(Report report, const Folder& workspace, const std::vector<const Folder*>& roots) {
  for (const Artifact& artifact : std::exchange(report.artifacts, {})) {
    if (is_there(workspace, roots, artifact.path)) {
      report.artifacts.push_back(artifact);
    } else {
      report.errors.push_back(struck(artifact));
    }
  }
  return report;
}

constexpr std::size_t kHashCharacters = 8;

// A session that is resumed reports again: each report has its own file, and the same one always the same.
std::string file_name_of(const Report& report, std::string_view text) {
  return fmt::format("{}-{}-{}.md", safe_file_name(report.label), safe_file_name(report.session.value),
                     sha256_hex(text).substr(0, kHashCharacters));
}

std::string folder_of(const SessionId& reader) {
  return fmt::format("{}/{}", kReports, safe_file_name(reader.value));
}

}  // namespace

std::string error_lines(const Report& report, std::string_view command, WallTime now) {
  std::string lines;
  for (const auto& error : report.errors) {
    lines += to_json_text(json::object{{"at", to_iso8601(now)},
                                       {"type", error.type},
                                       {"code", error.code},
                                       {"message", error.message},
                                       {"recoverable", error.recoverable},
                                       {"recommendation", error.recommendation},
                                       {"session_id", report.session.value},
                                       {"agent", report.agent},
                                       {"label", report.label},
                                       {"command", command}}) +
             "\n";
  }
  return lines;
}

Task<Report> ReportDesk::checked(Report report, std::shared_ptr<const Folder> workspace,
                                 std::vector<const Folder*> roots) {
  if (report.artifacts.empty()) co_return report;
  co_return co_await on_pool(services_.loop, services_.pool, [&report, &workspace, &roots] {
    return without_missing(report, *workspace, roots);
  });
}

Task<> ReportDesk::log(Report report, std::string command) {
  if (!services_.state || report.errors.empty()) co_return;
  const Fact kept = services_.journal.as_kept(RunEnded{std::move(report)});
  const std::string lines =
      error_lines(std::get<RunEnded>(kept).report, command, services_.loop.clock().wall());
  // The journal has it all: a log that cannot be written ends no run.
  (void)co_await on_pool(services_.loop, services_.pool,
                         [state = services_.state, &lines] { return state->append_to(kErrorsLog, lines); });
}

Task<std::optional<std::string>> ReportDesk::spill(SessionId reader, Report report) {
  if (!services_.state) co_return std::nullopt;
  const Fact kept = services_.journal.as_kept(RunEnded{std::move(report)});
  const Report& clean = std::get<RunEnded>(kept).report;
  std::string text = whole_text(clean);
  std::string name = file_name_of(clean, text);
  co_return co_await write(std::move(reader), std::move(name), std::move(text));
}

Task<std::optional<std::string>> ReportDesk::keep(SessionId reader, std::string name, std::string text) {
  if (!services_.state) co_return std::nullopt;
  // Long texts take long to look through.
  std::string clean = co_await on_pool(services_.loop, services_.pool, [this, &text] {
    ToolResult result;
    result.content = to_utf8(text);
    Fact kept = services_.journal.as_kept(CallFinished{std::move(result)});
    return std::get<CallFinished>(std::move(kept)).result.content;
  });
  std::string file = safe_file_name(name);
  const bool has_room = co_await on_pool(services_.loop, services_.pool, [this, &reader, &file, &clean] {
    std::uint64_t kept = clean.size();
    if (const auto files = services_.state->list(folder_of(reader))) {
      for (const Entry& each : *files) kept += each.name == file ? 0 : each.status.size;
    }
    return kept <= services_.most_kept;
  });
  if (!has_room) co_return std::nullopt;
  co_return co_await write(std::move(reader), std::move(file), std::move(clean));
}

Task<std::optional<std::string>> ReportDesk::write(SessionId reader, std::string name, std::string text) {
  auto written = co_await on_pool(
      services_.loop, services_.pool,
      [state = services_.state, &reader, &text, &name]() -> Result<std::shared_ptr<const Folder>> {
        const std::string folder = folder_of(reader);
        TRY(state->make_folder(folder));
        TRY(std::shared_ptr<const Folder> own, state->open_folder(folder));
        TRY(own->replace(name, text));
        return own;
      });
  if (!written) co_return std::nullopt;
  auto& folder = spilled_[reader];
  if (!folder) folder = *std::move(written);  // the first one stays: calls under way hold it by its address
  co_return join_path(folder->path(), name);
}

// What an earlier process put there is looked for once.
std::vector<const Folder*> ReportDesk::roots_of(const SessionId& reader) {
  auto found = spilled_.find(reader);
  if (found == spilled_.end()) {
    std::shared_ptr<const Folder> before;
    if (services_.state) {
      if (auto kept = services_.state->open_folder(folder_of(reader))) before = *std::move(kept);
    }
    found = spilled_.emplace(reader, std::move(before)).first;
  }
  return found->second ? std::vector{found->second.get()} : std::vector<const Folder*>{};
}

Task<std::string> ReportDesk::told(SessionId reader, Report report) {
  return told(std::move(reader), std::move(report), services_.bounds.report_bytes);
}

Task<std::string> ReportDesk::told(SessionId reader, Report report, std::size_t most) {
  std::optional<std::string> spilled;
  if (said_bytes(report) > most) spilled = co_await spill(std::move(reader), report);
  co_return told_of(report, most, spilled);
}

Task<std::string> ReportDesk::told(SessionId reader, std::vector<Report> reports, BatchLayout layout) {
  std::vector<std::optional<std::string>> spilled(reports.size());
  for (const std::size_t i : too_long(reports, layout, services_.bounds))
    spilled[i] = co_await spill(reader, reports[i]);
  co_return batch_text(reports, layout, services_.bounds, spilled);
}

}  // namespace deputy
