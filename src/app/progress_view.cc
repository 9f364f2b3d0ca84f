#include "app/progress_view.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "delegation/profiles.h"

namespace deputy {
namespace {

constexpr std::size_t kLabelCharacters = 32;
constexpr std::size_t kNoteCharacters = 160;
constexpr std::size_t kActivityCharacters = 120;
constexpr std::size_t kQuestionCharacters =
    4096;  // a whole file may be asked about; who answers sees all of it

std::string plain(std::string_view text, std::size_t characters) {
  return shorten(made_visible(on_one_line(to_utf8(text))), characters);
}

// The sign that a text was shortened is not in ASCII.
std::string for_style(const Style& style, std::string text) {
  if (style.unicode) return text;
  constexpr std::string_view kCut = "…";
  for (std::size_t at = text.find(kCut); at != std::string::npos; at = text.find(kCut, at)) {
    text.replace(at, kCut.size(), "...");
  }
  return text;
}

std::string tokens_of(const Usage& usage) {
  return fmt::format("(in={} out={})", short_count(static_cast<std::uint64_t>(usage.input)),
                     short_count(static_cast<std::uint64_t>(usage.output)));
}

std::string reason_of(const Report& report) {
  if (report.reason == Reason::provider_error || report.reason == Reason::internal ||
      report.reason == Reason::denied) {
    if (!report.errors.empty()) return plain(report.errors.front().message, kActivityCharacters);
  }
  return to_words(report.reason);
}

Tone tone_of(Status status) {
  switch (status) {
    case Status::completed:
      return Tone::good;
    case Status::partial:
    case Status::blocked:
      return Tone::doubtful;
    case Status::failed:
    case Status::cancelled:
      break;
  }
  return Tone::bad;
}

std::string not_answered(QuestionKind kind) {
  switch (kind) {
    case QuestionKind::permission:
      break;
    case QuestionKind::to_parent:
      return "not answered: no answer came from its parent; it goes on by its own judgement";
    case QuestionKind::to_person:
      return "not answered: nobody is there to ask; it goes on by its own judgement (say it in the prompt, "
             "or "
             "run it from a terminal and answer)";
  }
  return "not approved: nobody is there to ask (--yes approves beforehand)";
}

std::string answered(const Answer& answer, QuestionKind kind) {
  switch (answer.kind) {
    case AnswerKind::approved:
      return "approved";
    case AnswerKind::refused:
      return answer.text.empty() ? "declined"
                                 : fmt::format("declined: {}", plain(answer.text, kNoteCharacters));
    case AnswerKind::text:
      return fmt::format("answered: {}", plain(answer.text, kNoteCharacters));
    case AnswerKind::nobody:
      break;
  }
  if (answer.text.empty()) return not_answered(kind);
  return fmt::format("{}: {}", kind == QuestionKind::permission ? "not approved" : "not answered",
                     plain(answer.text, kNoteCharacters));
}

}  // namespace

struct ProgressView::Applied {
  ProgressView& view;
  Row& row;
  const Event& event;

  void operator()(const RunStarted& fact) const {
    row.activity = "started";
    row.has_ended = false;
    if (Row* parent = view.find(row.parent)) parent->batch = fact.total;
  }
  void operator()(const ReplyReceived& fact) const {
    row.usage = row.usage + fact.reply.usage;
    row.calls.clear();
    row.begun.clear();
    for (const Call& call : fact.reply.message.calls) row.calls.push_back(call.name);
  }
  void operator()(const CallFinished&) const {
    if (auto refusal = refusal_in(row, event)) row.activity = *std::move(refusal);
  }
  void operator()(const CallStarted& fact) const {
    row.begun.insert(event.call);
    row.activity = plain(fact.tool + " " + fact.shown, kActivityCharacters);
    row.is_asking = false;
  }
  void operator()(const NoteTaken& fact) const {
    row.activity = fmt::format("note: {}", plain(fact.content, kActivityCharacters));
  }
  void operator()(const QuestionAsked& fact) const {
    row.activity = fmt::format("asks: {}", plain(fact.question.text, kActivityCharacters));
    row.is_asking = true;
    row.asked.insert_or_assign(fact.question.id, fact.question.kind);
  }
  void operator()(const QuestionAnswered& fact) const {
    const auto question = row.asked.extract(fact.question_id);
    row.activity = answered(fact.answer, question ? question.mapped() : QuestionKind::permission);
    row.is_asking = false;
  }
  void operator()(const Compacted& fact) const {
    row.usage = row.usage + fact.reply.usage;
    row.activity =
        summary_in(fact.reply)
            ? fmt::format("compacted: a summary stands for {} messages", fact.messages)
            : fmt::format("not compacted: {}", plain(why_no_summary(fact.reply), kActivityCharacters));
  }
  void operator()(const Retried& fact) const {
    row.activity = fmt::format("retry {} in {}: {}", fact.attempt, to_text(fact.wait),
                               plain(fact.reason, kActivityCharacters));
  }
  void operator()(const RunEnded& fact) const {
    if (fact.report.usage != Usage{}) row.usage = fact.report.usage;  // with what was stopped half-way
    row.activity = view.ending_of(row, fact.report);
    row.tone = tone_of(fact.report.status);
    row.has_ended = true;
    row.is_asking = false;
  }
  void operator()(const auto&) const {}
};

// What is worth a line of its own.
struct ProgressView::Told {
  const ProgressView& view;
  const Row& row;
  const Event& event;
  Detail detail;
  using Line = std::optional<std::string>;

  Line operator()(const RunStarted&) const { return "started"; }
  Line operator()(const CallStarted& fact) const {
    if (fact.tool == "Note") return std::nullopt;  // the note itself follows
    return row.activity;
  }
  Line operator()(const NoteTaken& fact) const {
    return fmt::format("note: {}", plain(fact.content, kNoteCharacters));
  }
  Line operator()(const QuestionAsked& fact) const {
    return fmt::format("asks: {}", plain(fact.question.text, kQuestionCharacters));
  }
  Line operator()(const QuestionAnswered& fact) const {
    if (fact.answer.kind == AnswerKind::approved && detail == Detail::usual) return std::nullopt;
    return row.activity;
  }
  Line operator()(const Retried&) const { return row.activity; }
  Line operator()(const Compacted&) const { return row.activity; }
  Line operator()(const RunEnded&) const { return toned(view.style_, row.tone, row.activity); }
  Line operator()(const ReplyReceived& fact) const {
    if (detail == Detail::usual) return std::nullopt;
    return fmt::format("replied: {} {}", name_of(fact.reply.stop), tokens_of(fact.reply.usage));
  }
  Line operator()(const CallFinished& fact) const {
    if (auto refusal = refusal_in(row, event)) return refusal;
    if (detail == Detail::usual) return std::nullopt;
    return fmt::format("result: {}, {} bytes", fact.result.status == ToolStatus::ok ? "ok" : "error",
                       with_thousands(fact.result.content.size()));
  }
  Line operator()(const auto&) const { return std::nullopt; }
};

void ProgressView::apply(const Event& event, const EventOrigin& origin) {
  Row& row = row_of(event, origin);
  std::visit(Applied{*this, row, event}, event.fact);
}

std::optional<std::string> ProgressView::apply_summary_asked(const SessionId& session, std::int64_t tokens) {
  Row* row = find(session);
  if (!row) return std::nullopt;
  row->activity = fmt::format("compacting: the model sums up about {} tokens",
                              short_count(static_cast<std::uint64_t>(tokens)));
  return fmt::format("[{}] {}", row->label, row->activity);
}

std::optional<std::string> ProgressView::line_for(const Event& event, Detail detail) const {
  const Row* row = find(event.run.session);
  if (!row || row->agent == kCommandAgent) return std::nullopt;
  const auto told = std::visit(Told{*this, *row, event, detail}, event.fact);
  if (!told) return std::nullopt;
  return for_style(style_, fmt::format("[{}] {}", row->label, *told));
}

ProgressView::Row* ProgressView::find(const SessionId& id) {
  const auto found = std::ranges::find(rows_, id, &Row::id);
  return found == rows_.end() ? nullptr : &*found;
}

const ProgressView::Row* ProgressView::find(const SessionId& id) const {
  const auto found = std::ranges::find(rows_, id, &Row::id);
  return found == rows_.end() ? nullptr : &*found;
}

// A session may have begun before this process did, so any event can be the first that is heard of it.
ProgressView::Row& ProgressView::row_of(const Event& event, const EventOrigin& origin) {
  if (Row* known = find(event.run.session)) return *known;
  Row row{.id = event.run.session, .parent = origin.parent, .agent = origin.agent};
  row.label =
      unique_label(plain(origin.label.empty() ? origin.agent : origin.label, kLabelCharacters), row.parent);
  if (const Row* parent = find(row.parent))
    row.depth = parent->agent == kCommandAgent ? 1 : parent->depth + 1;
  rows_.push_back(std::move(row));
  return rows_.back();
}

// Twins are legal; on a screen one must tell them apart.
std::string ProgressView::unique_label(const std::string& label, const SessionId& parent) const {
  std::string candidate = label;
  for (int twin = 2;; ++twin) {
    const auto is_taken = [&](const Row& row) { return row.parent == parent && row.label == candidate; };
    if (std::ranges::none_of(rows_, is_taken)) return candidate;
    candidate = fmt::format("{} ({})", label, twin);
  }
}

// A call that has a result without ever having begun.
std::optional<std::string> ProgressView::refusal_in(const Row& row, const Event& event) {
  const auto* finished = std::get_if<CallFinished>(&event.fact);
  const auto index = static_cast<std::size_t>(event.call);
  if (!finished || finished->result.status == ToolStatus::ok || event.call < 0 || index >= row.calls.size() ||
      row.begun.contains(event.call)) {
    return std::nullopt;
  }
  return fmt::format("{} refused: {}", plain(row.calls[index], kLabelCharacters),
                     plain(finished->result.content, kNoteCharacters));
}

std::string ProgressView::ending_of(const Row& row, const Report& report) const {
  const Marks& marks = marks_of(style_);
  switch (report.status) {
    case Status::completed:
      return fmt::format("{} complete {}", marks.done, tokens_of(row.usage));
    case Status::partial:
    case Status::blocked:
      return fmt::format("{} {}: {} {}", marks.partial, name_of(report.status), reason_of(report),
                         tokens_of(row.usage));
    case Status::cancelled:
      return fmt::format("{} cancelled {}", marks.failed, tokens_of(row.usage));
    case Status::failed:
      break;
  }
  return fmt::format("{} error: {}", marks.failed, reason_of(report));
}

std::string ProgressView::text_of(const Row& row, std::size_t label_width) const {
  if (row.agent == kCommandAgent) {
    return fmt::format("Delegate [{} subagent{}]", row.batch, row.batch == 1 ? "" : "s");
  }
  const std::string label = fmt::format("[{}]", row.label);
  const std::string indent(static_cast<std::size_t>(row.depth) * 2, ' ');
  const std::string gap(label_width + 2 - std::min(label_width, utf8_length(label)), ' ');
  if (row.has_ended) return indent + label + gap + row.activity;
  return fmt::format("{}{}{}{} {} {}", indent, label, gap, row.is_asking ? "?" : marks_of(style_).working,
                     row.activity, tokens_of(row.usage));
}

void ProgressView::put_in_order(const Row& row, std::vector<const Row*>& rows) const {
  rows.push_back(&row);
  for (const Row& child : rows_) {
    if (child.parent == row.id && !child.id.empty()) put_in_order(child, rows);
  }
}

std::vector<Line> ProgressView::frame(TerminalSize size) const {
  std::vector<const Row*> ordered;
  for (const Row& row : rows_) {
    if (!find(row.parent)) put_in_order(row, ordered);
  }
  std::size_t label_width = 0;
  for (const Row* row : ordered) {
    if (row->agent != kCommandAgent) label_width = std::max(label_width, utf8_length(row->label) + 2);
  }
  // One line is left for the cursor; a frame that scrolled could not be drawn over.
  const auto room = static_cast<std::size_t>(std::max(1, size.rows - 1));
  const auto columns = static_cast<std::size_t>(std::max(10, size.columns - 1));
  std::vector<Line> lines;
  const std::size_t hidden = ordered.size() > room ? ordered.size() - (room - 1) : 0;
  if (hidden > 0) lines.push_back(line_of(fmt::format("({} more above)", hidden)));
  for (std::size_t at = hidden; at < ordered.size(); ++at) {
    const Row& row = *ordered[at];
    lines.push_back(cut(line_of(text_of(row, label_width), row.has_ended ? row.tone : Tone::plain), columns));
  }
  return lines;
}

}  // namespace deputy
