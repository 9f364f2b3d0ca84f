// What a key means: to the question that is open, to the child that is chosen, or to the line being typed.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "tui/chat.h"
#include "tui/chat_frame.h"

namespace deputy {
namespace {

constexpr auto kSoonAfter = std::chrono::seconds(2);

bool is_control(const Key& key, char letter) { return key.name == KeyName::control && key.text[0] == letter; }

// The first cancels what runs, a second soon after leaves. Where nothing runs, text in the line goes first.
Intents interrupt(ChatState& state) {
  const bool is_second = state.interrupted_at && state.now - *state.interrupted_at <= kSoonAfter;
  if (is_second) return {LeaveChat{.at_once = true}};
  const bool is_line_shown = !question_has_keys(state);
  if (!state.is_running && is_line_shown && !state.input.text.empty()) {
    set_text(state.input, "");
    state.completion = {};
    state.typing = Typing::input;
    return {};
  }
  state.interrupted_at = state.now;
  if (state.is_running) {
    for (const auto& text : std::exchange(state.queued, {}))
      print_separated(state,
                      {line_of("not begun, as all is cancelled: " + on_one_line(text), Tone::doubtful)});
    state.notice = {"cancelling; what was found is kept (again within 2 s to leave)", state.root};
    return {CancelAll{}};
  }
  state.notice = {"Ctrl-C twice within 2 s leaves; so does /quit"};
  return {};
}

// What others ask already is approved by the rule too.
void approve_covered(ChatState& state, const std::string& rule, Intents& intents) {
  const auto is_covered = [&rule](const Question& question) {
    return question.kind == QuestionKind::permission && !question.suggestions.empty() &&
           question.suggestions.front() == rule;
  };
  for (;;) {
    const auto found = std::ranges::find_if(state.dialog.waiting, is_covered);
    if (found == state.dialog.waiting.end()) return;
    const std::string id = found->id;
    intents.emplace_back(GiveAnswer{id, {AnswerKind::approved, ""}});
    settle(state.dialog, id, state.now);
  }
}

Intents answer(ChatState& state, const DialogAnswer& given) {
  Intents intents;
  if (given.answer.kind == AnswerKind::approved && given.scope != ApprovalScope::once) {
    const std::string& rule = given.question.suggestions.front();
    state.session_rules.insert(rule);
    if (given.scope == ApprovalScope::always) intents.emplace_back(WriteRule{rule});
    approve_covered(state, rule, intents);
  }
  intents.emplace_back(GiveAnswer{given.question.id, given.answer});
  return intents;
}

void refuse(ChatState& state, const std::string& why) { print_separated(state, {line_of(why, Tone::bad)}); }

struct NamedChild {
  const TreeNode* node = nullptr;
  std::string_view name = {};  // as it was typed
  bool is_shared = false;      // children of several parents are called so
};

// The child at work whose id or label the words begin with.
NamedChild child_named(const ChatState& state, std::string_view words) {
  const auto begin_with = [words](std::string_view name) {
    return words.starts_with(name) && (words.size() == name.size() || words[name.size()] == ' ');
  };
  NamedChild named;
  for (const TreeRow& row : shown_rows(state)) {
    const TreeNode& node = *row.node;
    if (node.has_ended) continue;
    if (begin_with(node.id.value)) return {&node, node.id.value};
    if (!begin_with(node.label) || node.label.size() < named.name.size()) continue;
    named = {&node, node.label, named.name == node.label};
  }
  return named;
}

// To what it asked when the line was begun: what it asks since then nobody has read who types an answer.
Intents answer_child(ChatState& state, const TreeNode& child, std::string text) {
  const auto meant = state.asked.find(child.id);
  const bool was_asking = meant != state.asked.end();
  if (was_asking && meant->second == child.question)
    return {GiveAnswer{child.question, {AnswerKind::text, std::move(text)}}};
  if (!child.question.empty()) {
    refuse(state, fmt::format("{} has asked something while you typed; read it, and type /answer again",
                              child.label));
  } else if (was_asking) {
    refuse(state,
           fmt::format("what {} asked was answered meanwhile; /nudge tells it something", child.label));
  } else {
    refuse(state, fmt::format("{} asks its parent nothing; /nudge tells it something", child.label));
  }
  return {};
}

// What comes of sending a child that is at work to the background.
std::string told_of_background(const TreeNode& child) {
  if (child.is_beside) return fmt::format("{} works in the background already", child.label);
  if (!can_go_to_background(child))
    return fmt::format("{} stays: {} waits for all that it started", child.label, child.tool);
  return fmt::format("{} goes to the background: {} returns now, and its report comes later", child.label,
                     child.tool.empty() ? "the call that waits for it" : child.tool);
}

// The keys of a chosen child as commands, for where none can be chosen: plain lines. Nothing where it is none
// of these.
std::optional<Intents> on_child_command(ChatState& state, std::string_view name, std::string_view words) {
  const bool wants_text = name == "/nudge" || name == "/answer";
  if (!wants_text && name != "/background" && name != "/cancel") return std::nullopt;
  if (words.empty()) {
    refuse(state,
           fmt::format("{} needs the name of a child: type {} and a label or id of /tree", name, name));
    return Intents{};
  }
  const NamedChild named = child_named(state, words);
  const TreeNode* child = named.node;
  if (!child) {
    refuse(state, fmt::format("no child of that name is at work; type {} and a label or id of /tree", name));
    return Intents{};
  }
  if (named.is_shared) {
    refuse(state, fmt::format("several are called {}; give the id of /tree", named.name));
    return Intents{};
  }
  const std::string text(trimmed(words.substr(named.name.size())));
  if (wants_text == text.empty()) {
    refuse(state, fmt::format("type {} {}{}", name, named.name, wants_text ? " and what it is told" : ""));
    return Intents{};
  }
  if (name == "/cancel") return Intents{CancelOne{child->id}};
  if (name == "/background") {
    if (can_go_to_background(*child)) return Intents{SendToBackground{child->id}};
    refuse(state, told_of_background(*child));
    return Intents{};
  }
  if (name == "/nudge") return Intents{NudgeOne{child->id, text}};
  return answer_child(state, *child, text);
}

// Plain lines are typed ahead of what is written, or come from a program: each has its turn.
bool has_turn(const ChatState& state) {
  return state.tells_children && (state.is_running || !state.queued.empty());
}

bool leaves_in_turn(ChatState& state) {
  if (!has_turn(state)) return false;
  state.leaves_at_end = true;
  print_separated(state, {line_of("leaving once this is done; Ctrl-C twice leaves at once", Tone::faint)});
  return true;
}

std::optional<DoCommand> command_in(std::string_view meant) {
  if (!meant.starts_with('/') || meant.contains('\n')) return std::nullopt;
  const std::size_t space = std::min(meant.find(' '), meant.size());
  if (meant.substr(1, space - 1).contains('/')) return std::nullopt;  // a path that something is said of
  return DoCommand{std::string(meant.substr(0, space)), std::string(trimmed(meant.substr(space)))};
}

// The others only show something.
bool has_effect(const DoCommand& command) {
  return command.name == "/compact" || command.name == "/resume" || command.name == "/export" ||
         (command.name == "/model" && !command.arguments.empty());
}

Intent intent_of(std::string_view meant) {
  if (auto command = command_in(meant)) return *std::move(command);
  return SubmitInput{std::string(meant)};
}

Intents submit(ChatState& state) {
  const std::string text = take_text(state.input);
  state.completion = {};
  const std::string_view meant = trimmed(text);
  if (meant.empty()) return {};
  const auto command = command_in(meant);
  if (command) {
    if (auto intents = on_child_command(state, command->name, command->arguments)) return *std::move(intents);
    if ((command->name == "/quit" || command->name == "/exit") && leaves_in_turn(state)) return {};
  }
  if (state.leaves_at_end) {
    refuse(state, fmt::format("not taken, as the chat is left once this is done: {}", on_one_line(meant)));
    return {};
  }
  if (command ? has_turn(state) && has_effect(*command) : state.is_running || has_turn(state)) {
    state.queued.emplace_back(meant);
    if (command && state.tells_children)
      print_separated(state, {line_of(fmt::format("{} has its turn once this is done", on_one_line(meant)),
                                      Tone::faint)});
    return next_while_it_waits(state);
  }
  if (state.tells_children && !command) state.echoed = meant;
  return {intent_of(meant)};
}

Intents look_for_completion(ChatState& state) {
  state.completion = {commands_for(state.input)};
  if (state.completion.is_open()) return {};
  if (const auto wanted = path_wanted(state.input)) return {ListFolder{wanted->folder}};
  return {};
}

// Nothing where the key was none for the list of completions.
std::optional<Intents> complete(ChatState& state, const Key& key) {
  InputCompletion& completion = state.completion;
  if (!completion.is_open()) return std::nullopt;
  switch (key.name) {
    case KeyName::tab:
      accept(completion, state.input);
      return look_for_completion(state);  // of what the folder holds
    case KeyName::up:
      completion.chosen = completion.chosen == 0 ? completion.choices.size() - 1 : completion.chosen - 1;
      return Intents{};
    case KeyName::down:
      completion.chosen = (completion.chosen + 1) % completion.choices.size();
      return Intents{};
    case KeyName::escape:
      completion = {};
      return Intents{};
    case KeyName::enter:
      // A command that was begun is meant; a path may be whole as it stands.
      if (state.input.text.starts_with('/')) accept(completion, state.input);
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

void leave_child(ChatState& state) {
  state.chosen.reset();
  state.scrolled = 0;
}

void choose(ChatState& state, int by) {
  state.scrolled = 0;
  const auto rows = shown_rows(state);
  if (rows.empty()) {
    state.chosen.reset();
    return;
  }
  const auto found =
      std::ranges::find_if(rows, [&](const TreeRow& row) { return state.chosen == row.node->id; });
  const auto count = static_cast<int>(rows.size());
  const int at = found == rows.end() ? (by > 0 ? -1 : count) : static_cast<int>(found - rows.begin());
  state.chosen = rows[static_cast<std::size_t>(std::clamp(at + by, 0, count - 1))].node->id;
}

void scroll(ChatState& state, KeyName way) {
  const FollowedRows rows = rows_followed(state);
  const std::size_t page = std::clamp<std::size_t>(rows.shown, 1, page_of(state));
  if (way == KeyName::page_down) {
    state.scrolled -= std::min(page, state.scrolled);
    return;
  }
  const std::size_t least = state.scrolled > 0 ? 1 : 0;  // who reads back does not come to the end by it
  state.scrolled = std::min(state.scrolled + page, std::max(least, rows.all - std::min(rows.all, page)));
}

Intents act_on(ChatState& state, const TreeNode& child, std::string_view key) {
  if (key == "c") return {CancelOne{child.id}};
  if (key == "n") state.typing = Typing::nudge;
  if (key == "a" && !child.question.empty()) {
    state.typing = Typing::answer;
    state.answering = child.question;
  }
  if (key != "b") return {};
  state.notice = {told_of_background(child), child.id};
  if (!can_go_to_background(child)) return {};
  return {SendToBackground{child.id}};
}

// Keys while something is typed for the child. The line is empty before and after: it was when the child was
// chosen.
Intents on_key_for_child(ChatState& state, const TreeNode* child, const Key& key) {
  if (key.name != KeyName::enter && key.name != KeyName::escape) {
    edit(state.input, key);
    return {};
  }
  const std::string text(trimmed(state.input.text));
  set_text(state.input, "");
  const Typing typed = std::exchange(state.typing, Typing::input);
  if (key.name == KeyName::escape || text.empty()) return {};
  if (typed == Typing::answer && child && child->question == state.answering)
    return {GiveAnswer{child->question, {AnswerKind::text, text}}};
  if (typed == Typing::answer) {
    state.notice = {"it was answered, or has ended, meanwhile"};
    return {};
  }
  if (!child || child->has_ended) {
    state.notice = {"it has ended meanwhile and was not told"};
    return {};
  }
  state.notice = {fmt::format("{} reads it before its next step", child->label), child->id};
  return {NudgeOne{child->id, text}};
}

// Keys while a child is chosen. Nothing where the key is none of these.
std::optional<Intents> on_tree_key(ChatState& state, const Key& key) {
  if (!state.chosen) return std::nullopt;
  const TreeNode* node = find_node(state.tree, *state.chosen);
  if (state.typing != Typing::input) return on_key_for_child(state, state.is_running ? node : nullptr, key);
  switch (key.name) {
    case KeyName::up:
      choose(state, -1);
      return Intents{};
    case KeyName::down:
    case KeyName::tab:
      choose(state, 1);
      return Intents{};
    case KeyName::page_up:
    case KeyName::page_down:
      scroll(state, key.name);
      return Intents{};
    case KeyName::escape:
    case KeyName::enter:
      if (std::exchange(state.scrolled, 0) > 0 && key.name == KeyName::escape) return Intents{};
      state.chosen.reset();
      return Intents{};
    case KeyName::text:
      if (state.is_running && node && !node->has_ended) return act_on(state, *node, key.text);
      state.notice = {"it is not at work; Esc goes back"};
      return Intents{};
    default:
      return std::nullopt;
  }
}

// Plain lines come whole: when one was begun nobody can tell, only that it was typed by somebody who had
// little time to read what was asked just before it came.
bool could_be_read(const ChatState& state, const SessionId& asker) {
  const auto asked_at = state.asked_at.find(asker);
  return !state.tells_children ||
         (asked_at != state.asked_at.end() && state.now - asked_at->second >= kSoonAfter);
}

void begin_line(ChatState& state) {
  state.asked.clear();
  for (const TreeNode& node : state.tree.nodes) {
    if (!node.question.empty() && could_be_read(state, node.id)) state.asked.emplace(node.id, node.question);
  }
}

Intents on_input_key(ChatState& state, const Key& key) {
  if (state.input.text.empty()) begin_line(state);
  if (auto intents = complete(state, key)) return *std::move(intents);
  if (key.name == KeyName::enter) return submit(state);
  if (key.name == KeyName::tab && state.input.text.empty()) {
    choose(state, 1);
    return {};
  }
  if (is_control(key, 'd') && state.input.text.empty())
    return leaves_in_turn(state) ? Intents{} : Intents{LeaveChat{}};
  if (is_control(key, 'd')) {
    edit(state.input, {KeyName::remove});
    return {};
  }
  if (!edit(state.input, key)) return {};
  const bool is_typed = key.name == KeyName::text || key.name == KeyName::backspace;
  if (is_typed) return look_for_completion(state);
  state.completion = {};
  return {};
}

// A key for a question that others have just closed.
bool comes_too_late(ChatState& state) {
  if (!state.closed_at || state.now - *state.closed_at >= kTooSoon) return false;
  state.closed_at = state.now;  // who types on has not seen it
  state.notice = {"what was asked was settled meanwhile; what you type goes nowhere until you pause"};
  return true;
}

// The question waits while the person sees to a child, to one that asks its parent first.
void turn_to_children(ChatState& state) {
  state.is_question_aside = true;
  if (state.chosen) return;
  const auto rows = shown_rows(state);
  const auto asking =
      std::ranges::find_if(rows, [](const TreeRow& row) { return !row.node->question.empty(); });
  state.chosen = (asking == rows.end() ? rows.front() : *asking).node->id;
}

// What the person was at is done. No key counts before the question is there to be read.
void turn_to_question(ChatState& state) {
  if (!is_open(state.dialog) || !std::exchange(state.is_question_aside, false)) return;
  hide(state.dialog);
  print_what_is_cut(state);
}

Intents on_question_key(ChatState& state, const Key& key) {
  if (print_what_is_cut(state)) return {};  // the window has become smaller since it was asked
  if (key.name == KeyName::tab && can_turn_to_children(state)) {
    turn_to_children(state);
    return {};
  }
  const auto given = on_key(state.dialog, key, state.now);
  if (!given) return {};
  Intents intents = answer(state, *given);
  print_what_is_cut(state);  // of the next one
  return intents;
}

// Whether the key is the last for the line, or for the child that is chosen.
bool is_last(const ChatState& state, const Key& key) {
  if (key.name == KeyName::enter) return true;
  const bool has_another_use =
      state.completion.is_open() || state.typing != Typing::input || state.scrolled > 0;
  return key.name == KeyName::escape && !has_another_use;
}

}  // namespace

Intents apply_key(ChatState& state, const Key& key) {
  state.notice = {};
  if (is_control(key, 'c')) return interrupt(state);
  if (is_control(key, 'z')) return {PauseProgram{}};
  if (is_control(key, 'l')) return {ClearScreen{}};  // to a question it is no key
  // The end of the input: no line will answer what is asked.
  if (is_open(state.dialog) && state.tells_children && is_control(key, 'd'))
    return {LeaveChat{.at_once = true}};
  if (question_has_keys(state)) return on_question_key(state, key);
  if (comes_too_late(state)) return {};
  const bool was_last = is_last(state, key);
  auto for_child = on_tree_key(state, key);
  Intents intents = for_child ? *std::move(for_child) : on_input_key(state, key);
  // A paste, or what was recalled: whoever sees it in the line types on there.
  if (state.typing == Typing::input && !state.input.text.empty()) leave_child(state);
  if (was_last) turn_to_question(state);
  return intents;
}

Intents next_in_turn(ChatState& state) {
  if (state.queued.empty()) return state.leaves_at_end ? Intents{LeaveChat{}} : Intents{};
  const std::string text = std::move(state.queued.front());
  state.queued.pop_front();
  return {intent_of(text)};
}

Intents next_while_it_waits(ChatState& state) {
  const bool is_being_cancelled = state.interrupted_at.has_value();
  const bool is_heard = state.is_running && state.only_waits && !is_being_cancelled;
  const bool is_for_another_model = state.next_model.has_value();
  if (!is_heard || is_for_another_model || state.queued.empty() || command_in(state.queued.front()))
    return {};
  return next_in_turn(state);
}

void apply_listing(ChatState& state, const std::string& folder, const std::vector<std::string>& entries) {
  const auto wanted = path_wanted(state.input);
  if (!wanted || wanted->folder != folder || state.typing != Typing::input) return;  // who typed has moved on
  state.completion = {paths_for(*wanted, entries)};
}

}  // namespace deputy
