#include "tui/chat.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/json.h"
#include "base/text.h"
#include "transcript/mail.h"
#include "tui/call_lines.h"
#include "tui/markdown.h"

namespace deputy {
namespace {

constexpr std::size_t kMostLogLines = 1000;
constexpr std::size_t kMostPrintedLines = 3;
constexpr std::size_t kMostAskedRows = 12;

void print_reply(ChatState& state, std::string_view markdown) {
  if (trimmed(markdown).empty()) return;
  print_separated(state, markdown_lines(markdown, columns_of(state)));
}

void hear(ReplyStream& reply, const Redactor& redactor, std::string_view text) {
  reply.held += text;
  const std::size_t clear = redactor.settled(reply.held, reply.held.size());
  reply.text += redactor.redact(std::string_view(reply.held).substr(0, clear));
  reply.held.erase(0, clear);
}

// The rest of what was said, once it is whole.
void finish_reply(ChatState& state, std::string_view whole) {
  ReplyStream& reply = state.reply;
  const std::string_view printed = std::string_view(reply.text).substr(0, reply.printed);
  print_reply(state, whole.starts_with(printed) ? whole.substr(printed.size()) : whole);
  reply = {};
}

std::string short_figure(std::int64_t tokens) { return short_count(static_cast<std::uint64_t>(tokens)); }

void log_line(ChatState& state, const SessionId& session, Line line) {
  auto& log = state.logs[session];
  if (state.scrolled > 0 && state.chosen == session)  // what is read stays where it is
    state.scrolled += wrapped(followed_line(line), columns_of(state), kFollowedMark).size();
  log.push_back(std::move(line));
  if (log.size() > kMostLogLines) log.pop_front();
}

Line entry(std::string_view mark, Tone tone, std::string_view text) {
  Line line{{std::string(mark) + " ", tone}};
  line.push_back(line_of(on_one_line(to_utf8(text))).front());
  return line;
}

const std::string& name_of_asker(const Question& question) {
  return question.label.empty() ? question.agent : question.label;
}

// What somebody has said to a session.
std::vector<Line> said_lines(const ChatState& state, std::string_view text, bool is_person) {
  std::vector<Line> lines;
  for (const auto& line : lines_of_text(text, is_person ? Tone::strong : Tone::faint)) {
    Line marked = line;
    marked.insert(marked.begin(), {lines.empty() && is_person ? "❯ " : "  ", Tone::accent});
    for (auto& part : wrapped(marked, columns_of(state), "  ")) lines.push_back(std::move(part));
  }
  return lines;
}

// Of what was told to a run that was ending just then.
constexpr std::string_view kUnread =
    "What was said last was not read before the end; your next line tells it too.";

// What the root session did, for the scrollback.
struct RootFold {
  ChatState& state;
  const Event& event;

  void operator()(const RunStarted& fact) const {
    if (fact.task == RunTask::undo_compaction) {
      state.context = 0;  // until the next reply counts it
      tell("Compaction undone: the model is told the whole conversation again.");
    }
    state.is_running = true;
    state.only_waits = false;
    state.run_started_at = event.at;
    state.reply = {};
    state.interrupted_at.reset();
  }
  void operator()(const InputGiven& fact) const {
    const bool is_person = fact.source == Source::person;
    if (is_person && std::exchange(state.echoed, {}) == fact.text) return;
    print_separated(state, said_lines(state, fact.text, is_person));
  }
  void operator()(const Nudged& fact) const {
    (*this)(InputGiven{.source = fact.source, .text = fact.text});
    if (!state.is_running) return tell(kUnread);
    state.unread.insert(nudge_item(fact.id));
  }
  void operator()(const Delivered& fact) const { state.unread.erase(fact.item); }
  void operator()(const StateChanged& fact) const {
    const TreeNode* root = find_node(state.tree, state.root);
    const bool is_in_a_call = root && !(root->calls.empty() && root->asks.empty());
    state.only_waits = fact.state == SessionState::waiting && fact.waits_for != kPlace && !is_in_a_call;
  }
  void operator()(const ReplyReceived& fact) const {
    state.only_waits = false;
    const Reply& reply = fact.reply;
    if (reply.usage.input > 0) state.context = reply.usage.input + reply.usage.output;
    finish_reply(state, state.redactor.redact(reply.message.text));
    state.calls.clear();
    for (int index = 0; Call call : reply.message.calls) {
      call.arguments = state.redactor.redact(call.arguments);
      state.calls[{event.step, index++}] = std::move(call);
    }
  }
  void operator()(const Compacted& fact) const {
    if (!summary_in(fact.reply)) {
      const bool was_too_much = fact.reply.stop == ReplyStop::context_exhausted;
      return tell(fmt::format("Not compacted: {}{}", state.redactor.redact(why_no_summary(fact.reply)),
                              was_too_much ? " (/compact tries again, with half as much)" : ""));
    }
    state.context = 0;
    const Usage& usage = fact.reply.usage;
    const std::string figures = usage.input > 0
                                    ? fmt::format(" {} tokens were read for it, it has {}.",
                                                  short_figure(usage.input), short_figure(usage.output))
                                    : "";
    tell(fmt::format("Compacted: a summary stands for the first {} messages.{} /compact undo takes it back.",
                     fact.messages, figures));
  }
  void tell(std::string_view text) const {
    print_separated(state, wrapped(line_of(text, Tone::faint), columns_of(state)));
  }
  void operator()(const CallFinished& fact) const {
    const auto call = state.calls.find({event.step, event.call});
    if (call == state.calls.end()) return;
    const auto ending = fact.result.status == ToolStatus::ok
                            ? ending_of(state.tree, CallId{event.run, event.step, event.call})
                            : std::nullopt;
    print_separated(state, call_lines(call->second, fact.result, columns_of(state), ending));
  }
  void operator()(const RunEnded& fact) const {
    finish_reply(state, state.reply.text);
    end_running(state);  // a child that is chosen stays so: who types for it sends nothing to the chat
    if (fact.report->status != Status::completed) print_separated(state, {{ending_of(fact.report)}});
    if (!std::exchange(state.unread, {}).empty()) tell(kUnread);
  }
  void operator()(const auto&) const {}
};

// What a child did, for who follows it; its end for everybody.
struct ChildFold {
  ChatState& state;
  const Event& event;

  void operator()(const InputGiven& fact) const { log("❯", Tone::accent, fact.text); }
  void operator()(const ReplyReceived& fact) const {
    state.heard.erase(event.run.session);
    const std::string text = state.redactor.redact(fact.reply.message.text);
    for (const auto& line : lines_of_text(text)) log_line(state, event.run.session, line);
  }
  void operator()(const CallStarted& fact) const { log("→", Tone::accent, fact.tool + " " + fact.shown); }
  void operator()(const CallFinished& fact) const {
    if (fact.result.status == ToolStatus::error) log("✗", Tone::bad, fact.result.content);
  }
  void operator()(const NoteTaken& fact) const { log("note:", Tone::faint, fact.content); }
  void operator()(const QuestionAsked& fact) const {  // others are put to the person
    if (fact.question.kind == QuestionKind::to_parent) log("asks:", Tone::doubtful, fact.question.text);
  }
  void operator()(const QuestionAnswered& fact) const {
    const auto asked = state.questions.find(fact.question_id);
    if (asked == state.questions.end()) return;
    const std::string mark = fmt::format("{}:", outcome_of(fact.answer.kind));
    const std::string text = state.redactor.redact(fact.answer.text);
    if (asked->second.kind == QuestionKind::to_parent) return log(mark, Tone::accent, text);
    log_line(state, event.run.session, entry(mark, Tone::accent, text));
  }
  void operator()(const RunEnded& fact) const {
    state.asked_at.erase(event.run.session);  // what it asked may have had no answer
    state.heard.erase(event.run.session);
    const TreeNode* node = find_node(state.tree, event.run.session);
    if (!node) return;
    log_line(state, event.run.session, {ending_of(fact.report)});
    Line line{{"  ", Tone::plain}, {fmt::format("[{}] ", node->label), Tone::strong}, ending_of(fact.report)};
    line.push_back({fmt::format("  {}", tokens_text(node->usage)), Tone::faint});
    print(state, {cut(line, columns_of(state))});
  }
  void operator()(const auto&) const {}
  void log(std::string_view mark, Tone tone, std::string_view text) const {
    Line line = entry(mark, tone, text);
    if (const TreeNode* node = find_node(state.tree, event.run.session); state.tells_children && node) {
      Line told{{fmt::format("[{}] ", node->label), Tone::strong}};
      told.insert(told.end(), line.begin(), line.end());
      print(state, {std::move(told)});
    }
    log_line(state, event.run.session, std::move(line));
  }
};

// In plain lines it stands there already, with what was typed. Of one that stands above whole, only whose it
// was: others may have printed since.
void print_asked(ChatState& state, const Question& question, bool was_told_whole) {
  if (question.kind != QuestionKind::to_person || state.tells_children) return;
  if (was_told_whole) {
    Line line = line_of(fmt::format("[{}]", name_of_asker(question)), Tone::strong);
    line.push_back({" asked what stands above:", Tone::doubtful});
    return print_separated(state, wrapped(line, columns_of(state), "  "));
  }
  std::vector<Line> rows;
  for (Line line : lines_of_text(state.redactor.redact(question.text))) {
    if (rows.empty()) {
      line.insert(line.begin(), {" asks: ", Tone::doubtful});
      line.insert(line.begin(), line_of(fmt::format("[{}]", name_of_asker(question)), Tone::strong).front());
    } else {
      line.insert(line.begin(), {"  ", Tone::plain});
    }
    for (auto& part : wrapped(line, columns_of(state), "  ")) rows.push_back(std::move(part));
  }
  if (rows.size() > kMostAskedRows) {
    const std::string more = fmt::format("  … {} more lines", rows.size() - (kMostAskedRows - 1));
    rows.resize(kMostAskedRows - 1);
    rows.push_back({{more, Tone::faint}});
  }
  print_separated(state, std::move(rows));
}

void print_answer(ChatState& state, const Question& question, const Answer& answer) {
  if (question.kind != QuestionKind::to_person || state.tells_children) return;
  const std::string text = state.redactor.redact(answer.text);
  if (answer.kind == AnswerKind::text) return print(state, said_lines(state, text, true));
  const Line told = line_of(fmt::format("  {}: {}", outcome_of(answer.kind), on_one_line(text)), Tone::faint);
  print(state, wrapped(told, columns_of(state), "  "));
}

Intents on_question(ChatState& state, const SessionId& asker, const Question& question) {
  keep_question(state, asker, question);
  if (question.kind == QuestionKind::to_parent) {
    state.asked_at[asker] = state.now;
    return {};
  }
  const bool is_covered = question.kind == QuestionKind::permission && !question.suggestions.empty() &&
                          state.session_rules.contains(question.suggestions.front());
  if (is_covered) return {GiveAnswer{question.id, {AnswerKind::approved, ""}}};
  // Who is typing, or has begun to for a child, ends that first. Plain lines come whole.
  const bool is_typing = state.typing != Typing::input || !state.input.text.empty();
  if (!is_open(state.dialog)) state.is_question_aside = !state.tells_children && is_typing;
  ask(state.dialog, question, state.now);
  print_what_is_cut(state);
  return {};
}

// By others than the person, who may be typing an answer: those keys are for nobody else. In plain lines the
// surface sees to that; who has pressed Ctrl-C has closed it.
void settle_from_elsewhere(ChatState& state, const std::string& question_id) {
  Dialog& dialog = state.dialog;
  const bool can_be_answered = dialog.waiting.front().id == question_id && is_ready(dialog, state.now);
  const bool may_be_typed = can_be_answered && question_has_keys(state) && !state.tells_children;
  if (may_be_typed && !state.interrupted_at) state.closed_at = state.now;
  const auto words = trimmed(dialog.words.text);
  if (can_be_answered && !words.empty())
    print_separated(
        state, wrapped(line_of("not given, as what was asked was settled meanwhile: " + on_one_line(words),
                               Tone::bad),
                       columns_of(state)));
  settle(dialog, question_id, state.now);
}

void on_answered(ChatState& state, const SessionId& asker, const QuestionAnswered& fact) {
  const TreeNode* node = find_node(state.tree, asker);
  if (!node || node->question.empty()) state.asked_at.erase(asker);
  const auto kept = state.questions.extract(fact.question_id);
  const bool was_told_whole = state.dialog.told_whole.erase(fact.question_id) > 0;
  if (kept) print_asked(state, kept.mapped(), was_told_whole);
  const auto asked = std::ranges::find(state.dialog.waiting, fact.question_id, &Question::id);
  const bool is_from_here = asked == state.dialog.waiting.end();  // it is settled before it is recorded
  const bool is_by_somebody = fact.answer.by != Source::runtime;  // under --yes it is settled as it is asked
  if (kept && (is_from_here || !is_by_somebody)) print_answer(state, kept.mapped(), fact.answer);
  if (is_from_here) return;
  if (is_by_somebody) {
    const std::string who = name_of_asker(*asked);
    const std::string words = fact.answer.text.empty() ? "" : ": " + on_one_line(fact.answer.text);
    const std::string told =
        fmt::format("[{}] was {} from elsewhere{}", who, outcome_of(fact.answer.kind), words);
    print_separated(state, wrapped(line_of(state.redactor.redact(told), Tone::faint), columns_of(state)));
  }
  settle_from_elsewhere(state, fact.question_id);
  print_what_is_cut(state);  // of the next one
}

// A session that has ended waits for no answer, whatever became of its questions.
void drop_questions_of(ChatState& state, const SessionId& ended) {
  const auto is_its = [&](const Question& question) { return question.asker == ended; };
  std::erase_if(state.questions, [&](const auto& each) { return is_its(each.second); });
  bool has_dropped = false;
  for (;;) {
    const auto found = std::ranges::find_if(state.dialog.waiting, is_its);
    if (found == state.dialog.waiting.end()) break;
    const std::string id = found->id;
    state.dialog.told_whole.erase(id);
    settle_from_elsewhere(state, id);
    has_dropped = true;
  }
  if (has_dropped) print_what_is_cut(state);  // of the next one
}

// Whether what the notice says of a session has come about, or cannot any more.
bool is_over(const Notice& notice, const Event& event) {
  if (const auto* sent = std::get_if<Detached>(&event.fact)) return sent->child == notice.about;
  if (event.run.session != notice.about) return false;
  const auto* read = std::get_if<Delivered>(&event.fact);
  return (read && read->source == Source::person) || std::holds_alternative<RunEnded>(event.fact);
}

}  // namespace

std::size_t columns_of(const ChatState& state) {
  return static_cast<std::size_t>(std::max(20, state.size.columns - 1));
}

std::size_t rows_of(const ChatState& state) {
  return static_cast<std::size_t>(std::max(2, state.size.rows - 1) - 1);
}

std::size_t page_of(const ChatState& state) { return std::max<std::size_t>(1, rows_of(state) / 2); }

void print(ChatState& state, std::vector<Line> lines) {
  if (lines.empty()) return;
  state.is_out_blank = plain_text(lines.back()).empty();
  state.out.insert(state.out.end(), std::make_move_iterator(lines.begin()),
                   std::make_move_iterator(lines.end()));
}

std::vector<Line> take_out(ChatState& state) {
  std::vector<Line> lines = std::exchange(state.out, {});
  if (const std::size_t missing = std::exchange(state.left_out, 0); missing > 0)
    lines.insert(lines.begin(), line_of(fmt::format("… {} line{} left out here, as the terminal took nothing "
                                                    "for a while; /export FILE writes what you and "
                                                    "the agent said",
                                                    with_thousands(missing), missing == 1 ? " is" : "s are"),
                                        Tone::doubtful));
  return lines;
}

void was_taken(ChatState& state) {
  if (is_open(state.dialog)) show(state.dialog, state.now);
}

void hold_back(ChatState& state) {
  hide_unread(state.dialog);
  if (state.out.size() <= kMostHeldBack) return;
  const std::size_t most = state.out.size() - kMostHeldBack;
  state.out.erase(state.out.begin(), state.out.begin() + static_cast<std::ptrdiff_t>(most));
  state.left_out += most;
}

void print_separated(ChatState& state, std::vector<Line> lines) {
  if (lines.empty()) return;
  if (!state.is_out_blank) print(state, {Line{}});
  print(state, std::move(lines));
}

bool question_has_keys(const ChatState& state) { return is_open(state.dialog) && !state.is_question_aside; }

bool can_turn_to_children(const ChatState& state) {
  return question_has_keys(state) && !state.tells_children && is_ready(state.dialog, state.now) &&
         !state.dialog.is_writing && state.input.text.empty() && !shown_rows(state).empty();
}

bool print_what_is_cut(ChatState& state) {
  if (state.tells_children || !question_has_keys(state)) return false;  // plain lines have room for all of it
  auto lines = take_what_is_cut(state.dialog, state.now, columns_of(state), rows_of(state));
  const bool is_cut = !lines.empty();
  print_separated(state, std::move(lines));
  return is_cut;
}

Intents apply(ChatState& state, const Event& event, const EventOrigin& origin) {
  if (origin.parent.empty()) state.root = event.run.session;
  apply(state.tree, event, origin);
  if (std::holds_alternative<CallFinished>(event.fact) || std::holds_alternative<RunEnded>(event.fact))
    state.printed.erase(event.run.session);  // what it came to is in the result
  if (is_over(state.notice, event)) state.notice = {};
  if (event.run.session == state.root) {
    std::visit(RootFold{state, event}, event.fact);
  } else {
    std::visit(ChildFold{state, event}, event.fact);
  }
  if (const auto* asked = std::get_if<QuestionAsked>(&event.fact))
    return on_question(state, event.run.session, asked->question);
  if (const auto* answered = std::get_if<QuestionAnswered>(&event.fact))
    on_answered(state, event.run.session, *answered);
  if (std::holds_alternative<RunEnded>(event.fact)) drop_questions_of(state, event.run.session);
  return {};
}

void keep_question(ChatState& state, const SessionId& asker, const Question& question) {
  if (question.kind == QuestionKind::permission) return;
  // One that was open when the session was left is asked again.
  const bool is_new = state.questions.insert_or_assign(question.id, question).second;
  if (is_new && question.kind == QuestionKind::to_person && asker != state.root)
    log_line(state, asker, entry("asks:", Tone::doubtful, question.text));
}

void apply_text(ChatState& state, const SessionId& session, std::string_view text) {
  keep_awake(state.tree, session, state.wall);
  if (session != state.root) return hear(state.heard[session], state.redactor, text);
  ReplyStream& reply = state.reply;
  hear(reply, state.redactor, text);
  const std::size_t settled = settled_prefix(std::string_view(reply.text).substr(reply.printed));
  if (settled == 0) return;
  print_reply(state, std::string_view(reply.text).substr(reply.printed, settled));
  reply.printed += settled;
}

void apply_output(ChatState& state, const SessionId& session, std::string_view lines) {
  keep_awake(state.tree, session, state.wall);
  auto& printed = state.printed[session];
  for (const std::string_view line : lines_of(lines)) {
    const std::string_view text = line.substr(0, line.find_last_not_of(" \t\r") + 1);
    if (text.empty()) continue;
    printed.push_back(line_of(text.substr(text.rfind('\r') + 1), Tone::faint));  // as a terminal shows it
    if (printed.size() > kMostPrintedLines) printed.pop_front();
  }
}

void apply_summary_asked(ChatState& state, const SessionId& session, std::int64_t tokens) {
  if (TreeNode* node = find_node(state.tree, session)) {
    node->activity = "compacting its conversation";
    node->is_thinking = false;
  }
  if (session != state.root) return;
  const std::string told = fmt::format(
      "Compacting: the model sums up what was said, about {} tokens. Ctrl-C stops it.", short_figure(tokens));
  print_separated(state, wrapped(line_of(told, Tone::faint), columns_of(state)));
}

void show_model(ChatState& state, ModelShown model) {
  state.next_model = std::move(model);
  if (!state.is_running) end_running(state);
}

void end_running(ChatState& state) {
  state.is_running = false;
  state.only_waits = false;
  if (auto chosen = std::exchange(state.next_model, {})) state.model = *std::move(chosen);
}

void apply_retry(ChatState& state, const SessionId& session, const Retried& retried) {
  state.heard.erase(session);
  if (session != state.root) return;
  if (state.reply.printed > 0) {
    const char* told =
        retried.is_last ? "(the reply broke off)" : "(the reply broke off and is asked for again)";
    print_separated(state, {{{told, Tone::doubtful}}});
  }
  state.reply = {};
}

Line followed_line(Line line) {
  line.insert(line.begin(), {std::string(kFollowedMark), Tone::faint});
  return line;
}

std::vector<TreeRow> shown_rows(const ChatState& state) {
  if (state.root.empty()) return {};
  return rows_below(state.tree, state.root, state.run_started_at);
}

}  // namespace deputy
