#include "tui/tree_view.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/display.h"
#include "base/json.h"
#include "base/text.h"

namespace deputy {
namespace {

constexpr std::size_t kLabelCharacters = 32;
constexpr std::size_t kActivityCharacters = 160;
constexpr std::string_view kDelegate = "Delegate";
constexpr std::size_t kWideScreen = 70;  // from here on cost and time have room too

std::string short_text(std::string_view text) {
  return shorten(for_screen(on_one_line(to_utf8(text))), kActivityCharacters);
}

std::string unique_label(TreeView& view, const EventOrigin& origin) {
  std::string label =
      shorten(for_screen(on_one_line(origin.label.empty() ? origin.agent : origin.label)), kLabelCharacters);
  const auto [found, is_new] = view.labels.try_emplace({origin.parent, label}, 1);
  if (is_new) return label;
  for (;;) {
    std::string candidate = fmt::format("{} ({})", label, ++found->second);
    if (view.labels.try_emplace({origin.parent, candidate}, 1).second) return candidate;
  }
}

auto* find(auto& view, const SessionId& id) {
  const auto found = view.places.find(id);
  return found == view.places.end() ? nullptr : &view.nodes[found->second];
}

// A session may have begun before this process did, so any event can be the first that is heard of it.
TreeNode& node_of(TreeView& view, const Event& event, const EventOrigin& origin) {
  if (TreeNode* node = find(view, event.run.session)) return *node;
  view.places[event.run.session] = view.nodes.size();
  view.nodes.push_back({.id = event.run.session,
                        .parent = origin.parent,
                        .label = unique_label(view, origin),
                        .agent = for_screen(origin.agent),
                        .started_at = event.at});
  return view.nodes.back();
}

std::string tool_of_call(const TreeNode* node, int call) {
  if (!node) return "";
  const auto found = node->calls.find(call);
  return found == node->calls.end() ? "" : found->second.tool;
}

std::size_t tasks_in(const Call& call) {
  if (call.name != kDelegate) return 0;
  const auto arguments = parse_json_object(call.arguments);
  const auto* tasks = arguments ? array_at(*arguments, "tasks") : nullptr;
  return tasks ? tasks->size() : 0;
}

struct Fold {
  TreeView& view;
  TreeNode& node;
  const Event& event;

  void operator()(const SessionCreated& fact) const {
    const auto& delegation = fact.session->delegation;
    if (!delegation) return;
    node.call = delegation->call;
    node.tool = tool_of_call(find(view, delegation->call.run.session), delegation->call.index);
  }
  void operator()(const Attached& fact) const {
    TreeNode* child = find(view, fact.child);
    if (!child) return;
    child->call = CallId{event.run, event.step, event.call};
    child->tool = tool_of_call(&node, event.call);
    child->is_beside = false;
  }
  void operator()(const Detached& fact) const {
    TreeNode* child = find(view, fact.child);
    if (!child) return;
    // Not the one that made it, where it was gone on with.
    child->call = CallId{event.run, event.step, event.call};
    child->is_beside = true;
  }
  void operator()(const RunStarted&) const {
    forget_what_was_open();
    does("started");
    node.started_at = event.at;
    node.has_ended = false;
    node.tone = Tone::plain;
  }
  void operator()(const ReplyReceived& fact) const {
    node.usage = node.usage + fact.reply.usage;
    node.steps += 1;
    forget_what_was_open();
    for (int index = 0; const Call& call : fact.reply.message.calls) node.tasks[index++] = tasks_in(call);
    node.is_thinking = false;
    if (const auto text = trimmed(fact.reply.message.text); !text.empty()) node.activity = short_text(text);
  }
  void operator()(const CallStarted& fact) const {
    CallUnderWay call{for_screen(fact.tool), short_text(fact.tool + " " + fact.shown), event.at,
                      CallId{event.run, event.step, event.call}, node.tasks[event.call]};
    does(call.shown);
    node.calls[event.call] = std::move(call);
  }
  void operator()(const CallFinished&) const {
    node.calls.erase(event.call);
    std::erase_if(node.asks, [this](const OpenQuestion& asked) { return asked.call == event.call; });
    if (node.calls.empty() && node.asks.empty()) {
      node.is_thinking = true;
    } else {
      does(node.calls.empty() ? "" : node.calls.rbegin()->second.shown);
    }
  }
  void operator()(const NoteTaken& fact) const { does(short_text("note: " + fact.content)); }
  void operator()(const QuestionAsked& fact) const {
    const Question& question = fact.question;
    std::string shown = short_text("asks: " + question.text);
    node.asks.push_back({question.id, event.call, shown});
    does(std::move(shown));
    if (question.kind == QuestionKind::to_parent) node.question = question.id;
  }
  void operator()(const QuestionAnswered& fact) const {
    std::erase_if(node.asks, [&fact](const OpenQuestion& asked) { return asked.id == fact.question_id; });
    does(std::string(outcome_of(fact.answer.kind)));
    if (node.question == fact.question_id) node.question.clear();
  }
  void operator()(const Compacted& fact) const {
    node.usage = node.usage + fact.reply.usage;
    does(summary_in(fact.reply) ? "compacted its conversation" : "could not be compacted");
  }
  void operator()(const Retried& fact) const {
    node.usage = node.usage + fact.usage;
    does(short_text(fmt::format("{}: {}", what_follows(fact), fact.reason)));
  }
  void operator()(const StateChanged& fact) const {
    const bool is_in_a_call = !node.calls.empty() || !node.asks.empty();
    if (fact.waits_for == kPlace || (fact.state == SessionState::waiting && !is_in_a_call)) {
      does(short_text("waits " + fact.why));
    } else if (fact.state == SessionState::running && !is_in_a_call) {
      node.is_thinking = true;
    }
  }
  void operator()(const RunEnded& fact) const {
    const TextSpan ending = ending_of(fact.report);
    forget_what_was_open();
    does(ending.text);
    node.tone = ending.tone;
    node.has_ended = true;
    node.ended_as = fact.report->status;
    node.is_beside = false;
    node.question.clear();
  }
  void operator()(const auto&) const {}

  // What it asks comes first: of its other calls somebody may be told later.
  void does(std::string what) const {
    node.activity = node.asks.empty() ? std::move(what) : node.asks.front().shown;
    node.is_thinking = false;
  }
  void forget_what_was_open() const {
    node.calls.clear();
    node.tasks.clear();
    node.asks.clear();
  }
};

void add_rows(const TreeView& view, const SessionId& parent, WallTime since, int depth,
              std::vector<TreeRow>& rows) {
  for (const TreeNode& node : view.nodes) {
    if (node.parent != parent || node.id == parent || (node.has_ended && node.last_at < since)) continue;
    rows.push_back({&node, depth});
    add_rows(view, node.id, since, depth + 1, rows);
  }
}

// Whole seconds: a screen that is drawn once a second need not show less.
std::string seconds_text(WallTime from, WallTime to) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(to - from);
  return seconds < std::chrono::seconds(1) ? "0s" : to_text(Duration(seconds));
}

std::string figures_of(const TreeNode& node, const TreeLook& look) {
  std::string figures = tokens_text(node.usage);
  if (look.columns < kWideScreen) return figures;
  if (const auto cost = cost_text(node.usage); !cost.empty()) figures += "  " + cost;
  figures += node.has_ended ? "  " + seconds_text(node.started_at, node.last_at)
                            : "  idle " + seconds_text(node.last_at, look.now);
  return figures;
}

Line line_of_row(const TreeRow& row, std::size_t label_width, const TreeLook& look) {
  const TreeNode& node = *row.node;
  const bool is_chosen = look.chosen == node.id;
  const std::string indent(static_cast<std::size_t>(row.depth) * 2, ' ');
  std::string label =
      cut_to_width(fmt::format("[{}]", node.label), std::max<std::size_t>(look.columns / 3, 8));
  const std::size_t taken = indent.size() + display_width(label);
  const std::string gap(label_width + 2 > taken ? label_width + 2 - taken : 1, ' ');
  Line left{{is_chosen ? "❯ " : "  ", Tone::accent},
            {indent, Tone::plain},
            {std::move(label), is_chosen ? Tone::chosen : Tone::strong},
            {gap, Tone::plain}};
  const bool is_asking = !node.asks.empty();
  if (!node.has_ended) left.push_back({is_asking ? "? " : "→ ", is_asking ? Tone::doubtful : Tone::accent});
  if (!node.has_ended && node.is_beside && !is_asking) left.push_back({"background: ", Tone::faint});
  left.push_back({node.activity, node.tone});
  return justified(std::move(left), {{figures_of(node, look), Tone::faint}}, look.columns);
}

// Where there is not room for all: the running ones, the chosen one and who stands above them.
std::vector<TreeRow> fitting(std::vector<TreeRow> rows, const TreeLook& look) {
  while (rows.size() > look.rows) {
    const auto gives_way = std::ranges::find_if(
        rows, [&](const TreeRow& row) { return row.node->has_ended && look.chosen != row.node->id; });
    if (gives_way == rows.end()) break;
    rows.erase(gives_way);
  }
  if (rows.size() <= look.rows) return rows;
  const auto chosen =
      std::ranges::find_if(rows, [&](const TreeRow& row) { return look.chosen == row.node->id; });
  const auto at = chosen == rows.end() ? 0 : static_cast<std::size_t>(chosen - rows.begin());
  const std::size_t from = std::min(rows.size() - look.rows, at > look.rows / 2 ? at - look.rows / 2 : 0);
  return {rows.begin() + static_cast<std::ptrdiff_t>(from),
          rows.begin() + static_cast<std::ptrdiff_t>(from + look.rows)};
}

}  // namespace

std::string what_follows(const Retried& retried) {
  if (retried.is_last) return fmt::format("attempt {} failed", retried.attempt);
  return fmt::format("retry {} in {}", retried.attempt, to_text(retried.wait));
}

std::string_view outcome_of(AnswerKind answer) {
  switch (answer) {
    case AnswerKind::approved:
      return "approved";
    case AnswerKind::refused:
      return "declined";
    case AnswerKind::text:
      return "answered";
    case AnswerKind::nobody:
      break;
  }
  return "not answered";
}

void apply(TreeView& view, const Event& event, const EventOrigin& origin) {
  TreeNode& node = node_of(view, event, origin);
  std::visit(Fold{view, node, event}, event.fact);
  node.last_at = event.at;
}

void keep_awake(TreeView& view, const SessionId& id, WallTime now) {
  TreeNode* node = find(view, id);
  if (node && !node->has_ended) node->last_at = now;
}

const TreeNode* find_node(const TreeView& view, const SessionId& id) { return find(view, id); }
TreeNode* find_node(TreeView& view, const SessionId& id) { return find(view, id); }

std::size_t not_begun(const TreeView& view) {
  std::size_t all = 0;
  for (const TreeNode& node : view.nodes) {
    for (const auto& [index, call] : node.calls) {
      if (call.tasks == 0) continue;
      const auto is_of_it = [&](const TreeNode& child) {
        return child.parent == node.id && child.call.value_or(call.id) == call.id;
      };
      const auto begun = static_cast<std::size_t>(std::ranges::count_if(view.nodes, is_of_it));
      all += call.tasks - std::min(call.tasks, begun);
    }
  }
  return all;
}

// The call of Delegate has one result for all that it started.
bool can_go_to_background(const TreeNode& node) {
  return !node.has_ended && !node.is_beside && node.tool != kDelegate;
}

std::optional<CallEnding> ending_of(const TreeView& view, const CallId& call) {
  int all = 0;
  int completed = 0;
  int cancelled = 0;
  const TreeNode* partial = nullptr;
  for (const TreeNode& node : view.nodes) {
    if (node.call != call) continue;
    if (!node.has_ended && node.is_beside && node.asks.empty())
      return CallEnding{{"→ ", Tone::accent}, "goes on in the background"};
    if (!node.has_ended && node.is_beside) return CallEnding{{"? ", Tone::doubtful}, node.activity};
    all += 1;
    completed += node.has_ended && node.ended_as == Status::completed ? 1 : 0;
    cancelled += node.has_ended && node.ended_as == Status::cancelled ? 1 : 0;
    if (node.has_ended && node.ended_as == Status::partial) partial = &node;
  }
  if (completed == all) return std::nullopt;
  if (cancelled == all) return CallEnding{{"✗ ", Tone::bad}, "cancelled"};
  const bool is_some_good = completed > 0 || partial;
  return CallEnding{
      is_some_good ? TextSpan{"⚠ ", Tone::doubtful} : TextSpan{"✗ ", Tone::bad},
      partial && all == 1 ? partial->activity : fmt::format("{} of {} completed", completed, all)};
}

std::vector<TreeRow> rows_below(const TreeView& view, const SessionId& root, WallTime since) {
  std::vector<TreeRow> rows;
  add_rows(view, root, since, 0, rows);
  return rows;
}

std::vector<Line> tree_lines(const TreeView& view, const SessionId& root, const TreeLook& look) {
  const auto all = rows_below(view, root, look.since);
  if (all.empty() || look.rows == 0) return {};
  TreeLook inner = look;
  const std::size_t later = not_begun(view);
  const bool has_rest =
      (all.size() > look.rows || later > 0) && look.rows > 1;  // the only row is for the chosen one
  if (has_rest) inner.rows = look.rows - 1;
  const auto rows = fitting(all, inner);
  std::size_t label_width = 0;
  for (const auto& row : rows) {
    label_width =
        std::max(label_width, display_width(row.node->label) + 2 + static_cast<std::size_t>(row.depth) * 2);
  }
  label_width = std::min(label_width, look.columns / 3);
  std::vector<Line> lines;
  for (const auto& row : rows) lines.push_back(line_of_row(row, label_width, look));
  if (!has_rest) return lines;
  const std::size_t hidden = all.size() - rows.size();
  std::string rest = hidden > 0 ? fmt::format("{} more", hidden) : "";
  if (later > 0) rest += fmt::format("{}{} not begun yet", hidden > 0 ? "; " : "", later);
  lines.push_back({{fmt::format("  ({})", rest), Tone::faint}});
  return lines;
}

std::string tokens_text(const Usage& usage) {
  return fmt::format("in={} out={}", short_count(static_cast<std::uint64_t>(usage.input)),
                     short_count(static_cast<std::uint64_t>(usage.output)));
}

std::string cost_text(const Usage& usage) {
  return usage.cost_micros ? fmt::format("${:.4f}", static_cast<double>(*usage.cost_micros) / 1e6) : "";
}

Usage usage_of(const TreeView& view) {
  Usage sum;
  for (const auto& node : view.nodes) sum = sum + node.usage;
  return sum;
}

TextSpan ending_of(const Report& report) {
  const bool is_said =
      !report.errors.empty() && (report.status == Status::failed || report.reason == Reason::internal);
  const std::string why = is_said ? short_text(report.errors.front().message) : to_words(report.reason);
  switch (report.status) {
    case Status::completed:
      return {"✓ complete", Tone::good};
    case Status::partial:
    case Status::blocked:
      return {fmt::format("⚠ {}: {}", name_of(report.status), why), Tone::doubtful};
    case Status::cancelled:
      return {"✗ cancelled", Tone::bad};
    case Status::failed:
      break;
  }
  return {fmt::format("✗ error: {}", why), Tone::bad};
}

}  // namespace deputy
