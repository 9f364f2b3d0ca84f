#include "delegation/report_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace deputy {
namespace {

constexpr std::size_t kHashCharacters = 12;
constexpr std::size_t kCommandBytes = 400;  // of one command in the list: its beginning and its end
constexpr std::size_t kAll = static_cast<std::size_t>(-1);

std::string status_line(const Report& report) {
  if (report.status == Status::completed) return "Status: completed";
  return fmt::format("Status: {} ({})", name_of(report.status), to_words(report.reason));
}

std::string clean(std::string_view text) { return on_one_line(made_visible(text)); }

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
  return fmt::format("- {} → {}", clean(bounded(clean(run.command), kCommandBytes).text),
                     run.exit_status ? fmt::format("exit status {}", *run.exit_status) : "no exit status");
}

std::string line_of(const std::string& step) { return "- " + clean(step); }

template <class Each>
std::string listed(std::string_view heading, const std::vector<Each>& all) {
  if (all.empty()) return {};
  std::string text = fmt::format("\n\n{}:", heading);
  for (const auto& each : all) text += "\n" + line_of(each);
  return text;
}

std::string lists_of(const Report& report) {
  std::string text = listed("Artifacts", report.artifacts) +
                     listed("Files changed, by the runtime's own ledger", report.files) +
                     listed("Commands run", report.commands);
  if (!report.commands.empty() && report.workspace.branch.empty())
    text += "\n(what a command changed by itself is not in the list of files)";
  return text + listed("Next steps", report.next_steps);
}

std::string workspace_of(const Report& report) {
  if (!report.workspace.branch.empty()) {
    return fmt::format("\n\nIts work is on the branch {} (folder {}); merge it or leave it. The diff:\n{}",
                       report.workspace.branch, report.workspace.path, report.workspace.diff);
  }
  if (report.workspace.path.empty() || report.workspace.mode != WorkspaceMode::scratch) return {};
  return fmt::format("\n\nIt left files in {}", report.workspace.path);
}

std::string kind_of(const ReportedError& error) {
  return fmt::format("({}{}{}recoverable)", clean(error.type), error.type.empty() ? "" : ", ",
                     error.recoverable ? "" : "not ");
}

std::string advice_of(const ReportedError& error) {
  return error.recommendation.empty() ? "" : " → " + clean(error.recommendation);
}

std::string heading_of(const Report& report) {
  std::string text = fmt::format("## Subagent Result ({})\n{}\n", clean(report.agent), status_line(report));
  if (!report.session.empty()) text += fmt::format("Session: {}\n", report.session.value);
  return text;
}

std::string errors_of(const Report& report) {
  std::string text;
  for (const auto& error : report.errors) text += line_of(error) + "\n";
  return text;
}

std::string body_of(const Report& report) {
  if (!trimmed(report.body).empty()) return report.body;
  return report.session.empty() ? "(the subagent was not started)" : "(subagent returned no text)";
}

// All that is said below the heading. What there is of one part is no reason to leave out another.
std::vector<std::string> parts_of(const Report& report) {
  return {errors_of(report), body_of(report), lists_of(report), workspace_of(report)};
}

std::vector<std::size_t> sizes_of(const std::vector<std::string>& parts) {
  std::vector<std::size_t> sizes;
  for (const auto& part : parts) sizes.push_back(part.size());
  return sizes;
}

}  // namespace

std::vector<std::size_t> shares_of(std::vector<std::size_t> sizes, std::size_t each, std::size_t all) {
  for (auto& size : sizes) size = std::min(size, each);
  std::vector<std::size_t> rising = sizes;
  std::ranges::sort(rising);
  std::size_t left = all;
  std::size_t level = each;
  for (std::size_t i = 0; i < rising.size(); ++i) {
    level = left / (rising.size() - i);
    if (rising[i] > level) break;  // from here on all get the same
    left -= rising[i];
    level = each;
  }
  for (auto& size : sizes) size = std::min(size, level);
  return sizes;
}

std::string line_of(const ReportedError& error) {
  return fmt::format("Error {}: {}{}{}", kind_of(error),
                     error.code.empty() ? "" : fmt::format("[{}] ", clean(error.code)), clean(error.message),
                     advice_of(error));
}

std::string line_beside_message(const ReportedError& error) {
  return fmt::format("{}{}{}", kind_of(error),
                     error.code.empty() ? "" : fmt::format(" [{}]", clean(error.code)), advice_of(error));
}

std::string pointer_to(const std::string& spilled) {
  return fmt::format("\n\n[The whole report: {}]", spilled);
}

std::string told_in_short(const Report& report) {
  return heading_of(report) + "\nWhat it says could not be laid out here; task_status with its id tells it.";
}

std::string told_of(const Report& report, std::size_t most, const std::optional<std::string>& spilled) {
  const std::vector<std::string> parts = parts_of(report);
  const auto shares = shares_of(sizes_of(parts), most, most);
  std::string text = heading_of(report);
  bool is_whole = true;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Bounded shown = bounded(parts[i], shares[i]);
    text += shown.text;
    if (i == 0) text += text.ends_with('\n') ? "\n" : "\n\n";
    is_whole = is_whole && shown.whole;
  }
  if (!is_whole && spilled) text += pointer_to(*spilled);
  return text;
}

std::size_t said_bytes(const Report& report) {
  std::size_t bytes = 0;
  for (const auto& part : parts_of(report)) bytes += part.size();
  return bytes;
}

std::string whole_text(const Report& report) { return told_of(report, kAll); }

ForPerson for_person(const Report& report) {
  if (report.errors.empty()) return {std::string(name_of(report.status)), ""};
  const auto hopeless = std::ranges::find(report.errors, false, &ReportedError::recoverable);
  if (hopeless != report.errors.end()) {
    return {fmt::format("{}: Manual intervention required: {}", name_of(report.status), hopeless->message),
            hopeless->recommendation};
  }
  const ReportedError& first = report.errors.front();
  // How a model is to go on is nothing for a person, who is told what is recommended.
  const std::size_t end = report.reason == Reason::budget ? std::min(first.message.find(". Finish with"),
                                                                     first.message.find(". Ask the person"))
                                                          : std::string::npos;
  return {fmt::format("{}: {}", name_of(report.status), first.message.substr(0, end)), first.recommendation};
}

}  // namespace deputy
