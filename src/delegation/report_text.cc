#include "delegation/report_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace deputy {
namespace {

constexpr std::size_t kDiffBytes = 16 * 1024;
constexpr std::size_t kListed = 50;  // of files and commands
constexpr std::size_t kHashCharacters = 12;
constexpr std::size_t kAll = static_cast<std::size_t>(-1);

std::string status_line(const Report& report) {
  if (report.status == Status::completed) return "Status: completed";
  return fmt::format("Status: {} ({})", name_of(report.status), to_words(report.reason));
}

std::string clean(std::string_view text) { return on_one_line(made_visible(text)); }

std::string line_of(const ReportedError& error) {
  return fmt::format("Error: {}{}{}{}", error.code.empty() ? "" : fmt::format("[{}] ", clean(error.code)),
                     clean(error.message), error.recommendation.empty() ? "" : " → ",
                     clean(error.recommendation));
}

std::string line_of(const Artifact& artifact) {
  return fmt::format("- {} ({}){}", clean(artifact.path), clean(artifact.kind),
                     artifact.description.empty() ? "" : ": " + clean(artifact.description));
}

std::string short_hash(const std::string& hash) { return hash.substr(0, kHashCharacters); }

std::string line_of(const FileChange& file) {
  const std::string path = clean(file.path);
  if (file.before.empty()) return fmt::format("- {} made, sha256 {}", path, short_hash(file.after));
  if (file.after.empty()) return fmt::format("- {} removed", path);
  return fmt::format("- {} changed, sha256 {} → {}", path, short_hash(file.before), short_hash(file.after));
}

std::string line_of(const CommandRun& run) {
  return fmt::format("- {} → {}", clean(run.command),
                     run.exit_status ? fmt::format("exit status {}", *run.exit_status) : "no exit status");
}

std::string line_of(const std::string& step) { return "- " + clean(step); }

template <class Each>
std::string listed(std::string_view heading, const std::vector<Each>& all, std::size_t most) {
  if (all.empty()) return {};
  std::string text = fmt::format("\n\n{}:", heading);
  for (std::size_t i = 0; i < std::min(all.size(), most); ++i) text += "\n" + line_of(all[i]);
  if (all.size() > most) text += fmt::format("\n- … and {} more", all.size() - most);
  return text;
}

std::string work_of(const Report& report, std::size_t most_lines, std::size_t most_diff) {
  std::string text = listed("Artifacts", report.artifacts, most_lines) +
                     listed("Files changed, by the runtime's own ledger", report.files, most_lines) +
                     listed("Commands run", report.commands, most_lines);
  if (!report.commands.empty() && report.workspace.branch.empty())
    text += "\n(what a command changed by itself is not in the list of files)";
  text += listed("Next steps", report.next_steps, most_lines);
  if (!report.workspace.branch.empty()) {
    text += fmt::format("\n\nIts work is on the branch {} (folder {}); merge it or leave it. The diff:\n{}",
                        report.workspace.branch, report.workspace.path,
                        bounded(report.workspace.diff, most_diff).text);
  } else if (!report.workspace.path.empty() && report.workspace.mode == WorkspaceMode::scratch) {
    text += fmt::format("\n\nIt left files in {}", report.workspace.path);
  }
  return text;
}

std::string heading_of(const Report& report) {
  std::string text = fmt::format("## Subagent Result ({})\n{}\n", clean(report.agent), status_line(report));
  if (!report.session.empty()) text += fmt::format("Session: {}\n", report.session.value);
  for (const auto& error : report.errors) text += line_of(error) + "\n";
  return text + "\n";
}

std::string text_of(const Report& report, std::string_view body, std::size_t most_lines,
                    std::size_t most_diff) {
  std::string text = heading_of(report);
  text += trimmed(body).empty()
              ? (report.session.empty() ? "(the subagent was not started)" : "(subagent returned no text)")
              : body;
  return text + work_of(report, most_lines, most_diff);
}

}  // namespace

std::vector<std::size_t> shares_of(const std::vector<Report>& reports, const ReportBounds& bounds) {
  std::vector<std::size_t> shares;
  for (const auto& report : reports) shares.push_back(std::min(report.body.size(), bounds.report_bytes));
  std::vector<std::size_t> rising = shares;
  std::ranges::sort(rising);
  std::size_t left = bounds.batch_bytes;
  std::size_t level = bounds.report_bytes;
  for (std::size_t i = 0; i < rising.size(); ++i) {
    level = left / (rising.size() - i);
    if (rising[i] > level) break;  // from here on all get the same
    left -= rising[i];
    level = bounds.report_bytes;
  }
  for (auto& share : shares) share = std::min(share, level);
  return shares;
}

std::string shown_body(const Report& report, std::size_t most, const std::optional<std::string>& spilled) {
  auto shown = bounded(report.body, most);
  if (!shown.whole && spilled) shown.text += fmt::format("\n\n[The whole report: {}]", *spilled);
  return std::move(shown.text);
}

std::string told_of(const Report& report, std::size_t most, const std::optional<std::string>& spilled) {
  return text_of(report, shown_body(report, most, spilled), kListed, kDiffBytes);
}

std::string whole_text(const Report& report) { return text_of(report, report.body, kAll, kAll); }

ForPerson for_person(const Report& report) {
  if (report.errors.empty()) return {std::string(name_of(report.status)), ""};
  const auto hopeless = std::ranges::find(report.errors, false, &ReportedError::recoverable);
  if (hopeless != report.errors.end()) {
    return {fmt::format("{}: Manual intervention required: {}", name_of(report.status), hopeless->message),
            hopeless->recommendation};
  }
  return {fmt::format("{}: {}", name_of(report.status), report.errors.front().message),
          report.errors.front().recommendation};
}

}  // namespace deputy
