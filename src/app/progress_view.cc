#include "app/progress_view.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/display.h"
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

std::string tokens_of(const Usage& usage) { return fmt::format("({})", tokens_text(usage)); }

std::string reason_of(const Report& report) {
  if (report.reason == Reason::provider_error || report.reason == Reason::internal ||
      report.reason == Reason::denied) {
    if (!report.errors.empty()) return plain(report.errors.front().message, kActivityCharacters);
  }
  return to_words(report.reason);
}

// Nothing where it was the person's, or its parent's: who does it sees it.
std::string cause_of_cancel(const Report& report) {
  const bool is_by_signal = !report.errors.empty() && report.errors.front().message == kEndedBySigterm;
  return is_by_signal ? fmt::format(": {}", kEndedBySigterm) : "";
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

std::string answered(const QuestionAnswered& fact, const std::map<std::string, QuestionKind>& asked) {
  const Answer& answer = fact.answer;
  const auto question = asked.find(fact.question_id);
  const QuestionKind kind = question == asked.end() ? QuestionKind::permission : question->second;
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

std::string compacted_text(const Compacted& fact) {
  return summary_in(fact.reply)
             ? fmt::format("compacted: a summary stands for {} messages", fact.messages)
             : fmt::format("not compacted: {}", plain(why_no_summary(fact.reply), kActivityCharacters));
}

}  // namespace

// What a row tells in more words than the chat's tree does.
struct ProgressView::Applied {
  ProgressView& view;
  TreeNode& node;
  Besides& besides;
  const Event& event;

  void operator()(const RunStarted& fact) const {
    const auto parent = view.besides_.find(node.parent);
    if (parent != view.besides_.end()) parent->second.batch = fact.total;
  }
  void operator()(const ReplyReceived& fact) const {
    besides.calls.clear();
    besides.begun.clear();
    for (const Call& call : fact.reply.message.calls) besides.calls.push_back(call.name);
  }
  void operator()(const CallStarted&) const { besides.begun.insert(event.call); }
  void operator()(const CallFinished&) const {
    if (auto refusal = refusal_in(besides, event)) does(*std::move(refusal));
  }
  void operator()(const QuestionAsked& fact) const {
    besides.asked.insert_or_assign(fact.question.id, fact.question.kind);
  }
  void operator()(const QuestionAnswered& fact) const { does(answered(fact, besides.asked)); }
  void operator()(const Compacted& fact) const { does(compacted_text(fact)); }
  void operator()(const RunEnded& fact) const {
    if (fact.report->usage != Usage{}) node.usage = fact.report->usage;  // with what was stopped half-way
    node.activity = view.ending_of(node, fact.report);
  }
  void operator()(const auto&) const {}

  void does(std::string what) const {
    if (!node.asks.empty()) return;  // what it asks comes first
    node.activity = std::move(what);
    node.is_thinking = false;
  }
};

// What is worth a line of its own.
struct ProgressView::Told {
  const ProgressView& view;
  const TreeNode& node;
  const Event& event;
  Detail detail;
  using Words = std::optional<std::string>;

  Words operator()(const RunStarted&) const { return "started"; }
  Words operator()(const CallStarted& fact) const {
    if (fact.tool == "Note") return std::nullopt;  // the note itself follows
    return plain(fact.tool + " " + fact.shown, kActivityCharacters);
  }
  Words operator()(const NoteTaken& fact) const {
    return fmt::format("note: {}", plain(fact.content, kNoteCharacters));
  }
  Words operator()(const QuestionAsked& fact) const {
    return fmt::format("asks: {}", plain(fact.question.text, kQuestionCharacters));
  }
  Words operator()(const QuestionAnswered& fact) const {
    if (fact.answer.kind == AnswerKind::approved && detail == Detail::usual) return std::nullopt;
    return answered(fact, view.besides_of(node).asked);
  }
  Words operator()(const Retried& fact) const {
    return fmt::format("{}: {}", what_follows(fact), plain(fact.reason, kActivityCharacters));
  }
  Words operator()(const Compacted& fact) const { return compacted_text(fact); }
  Words operator()(const RunEnded&) const { return toned(view.style_, node.tone, node.activity); }
  Words operator()(const ReplyReceived& fact) const {
    if (detail == Detail::usual) return std::nullopt;
    return fmt::format("replied: {} {}", name_of(fact.reply.stop), tokens_of(fact.reply.usage));
  }
  Words operator()(const CallFinished& fact) const {
    if (auto refusal = refusal_in(view.besides_of(node), event)) return refusal;
    if (detail == Detail::usual) return std::nullopt;
    return fmt::format("result: {}, {} bytes", fact.result.status == ToolStatus::ok ? "ok" : "error",
                       with_thousands(fact.result.content.size()));
  }
  Words operator()(const auto&) const { return std::nullopt; }
};

void ProgressView::apply(const Event& event, const EventOrigin& origin) {
  deputy::apply(tree_, event, origin);
  TreeNode& node = *find_node(tree_, event.run.session);
  std::visit(Applied{*this, node, besides_[node.id], event}, event.fact);
}

std::optional<std::string> ProgressView::apply_summary_asked(const SessionId& session, std::int64_t tokens) {
  TreeNode* node = find_node(tree_, session);
  if (!node) return std::nullopt;
  node->activity = fmt::format("compacting: the model sums up about {} tokens",
                               short_count(static_cast<std::uint64_t>(tokens)));
  node->is_thinking = false;
  return fmt::format("[{}] {}", node->label, node->activity);
}

std::optional<std::string> ProgressView::line_for(const Event& event, Detail detail) const {
  const TreeNode* node = find_node(tree_, event.run.session);
  if (!node || node->agent == kCommandAgent) return std::nullopt;
  const auto told = std::visit(Told{*this, *node, event, detail}, event.fact);
  if (!told) return std::nullopt;
  return for_style(style_, fmt::format("[{}] {}", node->label, *told));
}

// A call that has a result without ever having begun.
std::optional<std::string> ProgressView::refusal_in(const Besides& besides, const Event& event) {
  const auto* finished = std::get_if<CallFinished>(&event.fact);
  const auto index = static_cast<std::size_t>(event.call);
  if (!finished || finished->result.status == ToolStatus::ok || event.call < 0 ||
      index >= besides.calls.size() || besides.begun.contains(event.call)) {
    return std::nullopt;
  }
  return fmt::format("{} refused: {}", plain(besides.calls[index], kLabelCharacters),
                     plain(finished->result.content, kNoteCharacters));
}

std::string ProgressView::ending_of(const TreeNode& node, const Report& report) const {
  const Marks& marks = marks_of(style_);
  switch (report.status) {
    case Status::completed:
      return fmt::format("{} complete {}", marks.done, tokens_of(node.usage));
    case Status::partial:
    case Status::blocked:
      return fmt::format("{} {}: {} {}", marks.partial, name_of(report.status), reason_of(report),
                         tokens_of(node.usage));
    case Status::cancelled:
      return fmt::format("{} cancelled{} {}", marks.failed, cause_of_cancel(report), tokens_of(node.usage));
    case Status::failed:
      break;
  }
  return fmt::format("{} error: {}", marks.failed, reason_of(report));
}

Line ProgressView::line_of_row(const TreeRow& row, std::size_t label_width) const {
  const TreeNode& node = *row.node;
  if (node.agent == kCommandAgent) {
    const int batch = besides_of(node).batch;
    return {{fmt::format("Delegate [{} subagent{}]", batch, batch == 1 ? "" : "s")}};
  }
  const std::string label = fmt::format("[{}]", node.label);
  std::string text(static_cast<std::size_t>(row.depth) * 2, ' ');
  text += label + std::string(label_width + 2 - std::min(label_width, display_width(label)), ' ');
  if (node.has_ended) return {{text + node.activity, node.tone}};
  const bool is_asking = !node.asks.empty();
  text += is_asking ? "? " : "→ ";
  if (node.is_beside && !is_asking) text += "background: ";
  // Of who is above them all it is told when its model has the word; of others, what they did last.
  text += row.depth == 0 && node.is_thinking ? "thinking" : node.activity;
  return {{text + " " + tokens_of(node.usage)}};
}

std::vector<Line> ProgressView::frame(TerminalSize size) const {
  std::vector<TreeRow> rows;
  for (const TreeNode& node : tree_.nodes) {
    if (find_node(tree_, node.parent)) continue;
    rows.push_back({&node, 0});
    for (const TreeRow& below : rows_below(tree_, node.id)) rows.push_back({below.node, below.depth + 1});
  }
  std::size_t label_width = 0;
  for (const TreeRow& row : rows) {
    if (row.node->agent != kCommandAgent)
      label_width = std::max(label_width, display_width(row.node->label) + 2);
  }
  // One line is left for the cursor; a frame that scrolled could not be drawn over.
  const auto room = static_cast<std::size_t>(std::max(1, size.rows - 1));
  const auto columns = static_cast<std::size_t>(std::max(10, size.columns - 1));
  std::vector<Line> lines;
  const std::size_t hidden = rows.size() > room ? rows.size() - (room - 1) : 0;
  if (hidden > 0) lines.push_back(line_of(fmt::format("({} more above)", hidden)));
  for (std::size_t at = hidden; at < rows.size(); ++at)
    lines.push_back(cut(line_of_row(rows[at], label_width), columns));
  return lines;
}

}  // namespace deputy
