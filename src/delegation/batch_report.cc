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

// An entry for an error has told the first one's message.
std::string errors_of(const Report& report) {
  std::string text;
  const bool is_told = batch_status(report.status) == "error";
  for (std::size_t i = 0; i < report.errors.size(); ++i)
    text += is_told && i == 0 ? line_beside_message(report.errors[i]) + "\n"
                              : "\n" + line_of(report.errors[i]) + "\n";
  return text;
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

// " (2)" of the second that has its label, as progress shows it; nothing of the first.
std::string number_of(const std::vector<Report>& reports, std::size_t at) {
  const auto end = reports.begin() + static_cast<std::ptrdiff_t>(at);
  const auto before = std::ranges::count(reports.begin(), end, reports[at].label, &Report::label);
  return before == 0 ? "" : fmt::format(" ({})", before + 1);
}

std::string markdown_of(const Report& report, std::string_view number = {}) {
  const auto status = batch_status(report.status);
  const std::string body = framed(report.body);
  const std::string errors = errors_of(report);
  const std::string label = on_one_line(made_visible(report.label)) + std::string(number);
  if (status == "ok")
    return fmt::format("### [{}] ✓\n{}\n\n{}\n{}", label, usage_line(report.usage), body, errors);
  if (status == "error") {
    const std::string kept = body.empty() ? "" : fmt::format("\n**Findings so far:**\n\n{}\n", body);
    return fmt::format("### [{}] ✗ error\n{}\n\n{}\n{}{}", label, usage_line(report.usage),
                       framed(message_of(report)), errors, kept);
  }
  const auto heading =
      report.reason == Reason::context_exhausted ? "Findings before exhaustion" : "Findings so far";
  return fmt::format("### [{}] ⚠️ partial ({})\n{}\n{}\n**{}:**\n\n{}\n", label, words_for(report),
                     usage_line(report.usage), errors, heading, body.empty() ? "(none)" : body);
}

json::object json_of(const Report& report) {
  const auto status = batch_status(report.status);
  const std::string& body = report.body;
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

// The texts that a report may be long by.
std::vector<std::string*> texts_of(Report& report) {
  std::vector<std::string*> texts{&report.body};
  for (auto& error : report.errors)
    texts.insert(texts.end(), {&error.type, &error.code, &error.message, &error.recommendation});
  return texts;
}

std::size_t entry_bytes(const Report& report, BatchLayout layout) {
  return layout == BatchLayout::json ? to_json_text(json_of(report)).size() : markdown_of(report).size();
}

Report with_texts_of(Report report, std::size_t most) {
  const auto texts = texts_of(report);
  std::vector<std::size_t> sizes;
  for (const auto* text : texts) sizes.push_back(text->size());
  const auto shares = shares_of(std::move(sizes), most, most);
  for (std::size_t i = 0; i < texts.size(); ++i) *texts[i] = bounded(*texts[i], shares[i]).text;
  return report;
}

// What the entry says beside what every entry says.
std::size_t said_in(const Report& report, BatchLayout layout) {
  const std::size_t whole = entry_bytes(report, layout);
  return whole - std::min(whole, entry_bytes(with_texts_of(report, 0), layout));
}

// A text takes more room in its layout than by itself: quotes and line breaks in JSON, what frames a line.
// How much is known only when it is laid out.
Report fitted(const Report& report, BatchLayout layout, std::size_t most) {
  if (said_in(report, layout) <= most) return report;
  for (std::size_t room = most;; room = room * 3 / 4) {
    Report cut = with_texts_of(report, room);
    if (room == 0 || said_in(cut, layout) <= most) return cut;
  }
}

std::vector<std::size_t> batch_shares(const std::vector<Report>& reports, BatchLayout layout,
                                      const ReportBounds& bounds) {
  std::vector<std::size_t> sizes;
  for (const auto& report : reports) sizes.push_back(said_in(report, layout));
  return shares_of(std::move(sizes), bounds.report_bytes, bounds.batch_bytes);
}

}  // namespace

std::vector<std::size_t> too_long(const std::vector<Report>& reports, BatchLayout layout,
                                  const ReportBounds& bounds) {
  const auto shares = batch_shares(reports, layout, bounds);
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < reports.size(); ++i) {
    if (said_in(reports[i], layout) > shares[i]) found.push_back(i);
  }
  return found;
}

std::string batch_text(const std::vector<Report>& reports, BatchLayout layout, const ReportBounds& bounds,
                       const std::vector<std::optional<std::string>>& spilled) {
  const auto shares = batch_shares(reports, layout, bounds);
  const auto shown = [&](std::size_t i) {
    Report report = fitted(reports[i], layout, shares[i]);
    if (i < spilled.size() && spilled[i]) report.body += pointer_to(*spilled[i]);
    return report;
  };
  const auto ok = count(reports, "ok");
  const auto partial = count(reports, "partial");
  const auto failed = count(reports, "error");
  if (layout == BatchLayout::json) {
    json::object batch{
        {"completed", ok}, {"partial", partial}, {"failed", failed}, {"total", reports.size()}};
    auto& results = batch["results"].emplace_array();
    for (std::size_t i = 0; i < reports.size(); ++i) results.emplace_back(json_of(shown(i)));
    return to_json_text(batch);
  }
  std::string text = fmt::format("## Subagents complete: {}/{}", ok, reports.size());
  if (partial + failed > 0) text += fmt::format(" ({} partial, {} failed)", partial, failed);
  text += "\n";
  for (std::size_t i = 0; i < reports.size(); ++i)
    text += "\n" + markdown_of(shown(i), number_of(reports, i));
  return text;
}

}  // namespace deputy
