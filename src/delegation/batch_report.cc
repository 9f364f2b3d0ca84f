#include "delegation/batch_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json.h"
#include "base/text.h"
#include "transcript/codec.h"

namespace deputy {

namespace {

std::int64_t count(const std::vector<Report>& reports, std::string_view status) {
  return std::ranges::count(reports, status,
                            [](const Report& report) { return batch_status(report.status); });
}

std::string message_of(const Report& report) {
  return report.errors.empty() ? to_words(report.reason) : report.errors.front().message;
}

// A blocked child names its blocker.
std::string words_for(const Report& report) {
  if (report.status != Status::blocked) return to_words(report.reason);
  return fmt::format("blocked: {}", on_one_line(made_visible(message_of(report))));
}

std::string usage_line(const Usage& usage) {
  return fmt::format("**Usage**: in={} out={}", with_thousands(static_cast<std::uint64_t>(usage.input)),
                     with_thousands(static_cast<std::uint64_t>(usage.output)));
}

// What a child wrote cannot pass for another's section, or for the head of the batch.
std::string framed(std::string_view body) {
  std::string text;
  for (const auto line : split(body, '\n')) {
    const std::string_view words = trimmed(line);
    if (words.starts_with("### [") || words.starts_with("## Subagent")) text += '\\';
    text += fmt::format("{}\n", line);
  }
  if (!text.empty()) text.pop_back();
  return text;
}

std::string markdown_of(const Report& report, std::string_view body) {
  const auto status = batch_status(report.status);
  const std::string label = on_one_line(made_visible(report.label));
  if (status == "ok") return fmt::format("### [{}] ✓\n{}\n\n{}\n", label, usage_line(report.usage), body);
  if (status == "error") {
    const std::string kept = body.empty() ? "" : fmt::format("\n**Findings so far:**\n\n{}\n", body);
    return fmt::format("### [{}] ✗ error\n{}\n\n{}\n{}", label, usage_line(report.usage), message_of(report),
                       kept);
  }
  const auto heading =
      report.reason == Reason::context_exhausted ? "Findings before exhaustion" : "Findings so far";
  return fmt::format("### [{}] ⚠️ partial ({})\n{}\n\n**{}:**\n\n{}\n", label, words_for(report),
                     usage_line(report.usage), heading, body.empty() ? "(none)" : body);
}

json::object json_of(const Report& report, std::string_view body) {
  const auto status = batch_status(report.status);
  json::object entry{{"label", report.label},
                     {"status", status},
                     {"session_id", report.session.value},
                     {"usage", json::object{{"input", report.usage.input}, {"output", report.usage.output}}}};
  if (report.reason != Reason::none) entry["reason"] = name_of(report.reason);
  if (status == "error") entry["error"] = message_of(report);
  if (!report.errors.empty()) entry["errors"] = *find(to_json(report), "errors");
  if (status == "ok") {
    entry["report"] = body;
  } else if (status == "partial" || !body.empty()) {
    entry["scratchpad"] = body;
  }
  return entry;
}

}  // namespace

std::string_view batch_status(Status status) {
  switch (status) {
    case Status::completed:
      return "ok";
    case Status::partial:
    case Status::blocked:
      return "partial";
    case Status::failed:
    case Status::cancelled:
      break;
  }
  return "error";
}

std::string batch_text(const std::vector<Report>& reports, BatchLayout layout, const ReportBounds& bounds,
                       const std::vector<std::optional<std::string>>& spilled) {
  const auto shares = shares_of(reports, bounds);
  const auto body = [&](std::size_t i) {
    return shown_body(reports[i], shares[i], i < spilled.size() ? spilled[i] : std::nullopt);
  };
  const auto ok = count(reports, "ok");
  const auto partial = count(reports, "partial");
  const auto failed = count(reports, "error");
  if (layout == BatchLayout::json) {
    json::object batch{
        {"completed", ok}, {"partial", partial}, {"failed", failed}, {"total", reports.size()}};
    auto& results = batch["results"].emplace_array();
    for (std::size_t i = 0; i < reports.size(); ++i) results.emplace_back(json_of(reports[i], body(i)));
    return to_json_text(batch);
  }
  std::string text = fmt::format("## Subagents complete: {}/{}", ok, reports.size());
  if (partial + failed > 0) text += fmt::format(" ({} partial, {} failed)", partial, failed);
  text += "\n";
  for (std::size_t i = 0; i < reports.size(); ++i) text += "\n" + markdown_of(reports[i], framed(body(i)));
  return text;
}

}  // namespace deputy
