#include "app/chat_commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "app/model_choice.h"
#include "app/past_events.h"
#include "app/places.h"
#include "app/session_lookup.h"
#include "app/session_text.h"
#include "app/transcript_text.h"
#include "base/display.h"
#include "base/text.h"
#include "delegation/profiles.h"
#include "tui/rows.h"

namespace deputy {
namespace {

constexpr std::size_t kMostListed = 20;

using Lines = std::vector<Line>;

// Names and what is said of each.
class Rows {
 public:
  explicit Rows(const ChatState& state) : columns_(columns_of(state)) {}
  void add(std::string_view name, std::string_view about) {
    for (auto& line : named_row(name, about, columns_)) lines.push_back(std::move(line));
  }
  Lines lines;

 private:
  std::size_t columns_;
};

void add_keys(Rows& rows) {
  rows.add("Enter", "send; Alt-Enter or Ctrl-J begins a new line");
  rows.add("Up, Down", "what you typed before");
  rows.add("@path", "names a file of the folder; Tab takes the one shown");
  rows.add("Tab (empty line)",
           "choose a child: follow it; PgUp and PgDn scroll; n nudges it, a answers it, b lets its parent go "
           "on, c cancels it");
  rows.add("Tab (question)", "the same, while the question waits; Esc goes back to it");
  rows.add(
      "Ctrl-C",
      "cancel what runs; a second one within 2 s leaves; where nothing runs, text in the line goes first");
  rows.add("Ctrl-L", "clear the screen; what was said stays in the scrollback");
  rows.add("Ctrl-Z", "leave the terminal to the shell; fg comes back");
  rows.add("Ctrl-D (empty line)", "leave; what runs can be resumed");
}

// Those that a terminal has in its ordinary mode.
void add_keys_of_plain_lines(Rows& rows) {
  rows.add("Enter", "send");
  rows.add("Ctrl-C", "cancel what runs, and drop what is typed; a second one within 2 s leaves");
  rows.add("Ctrl-Z", "leave the terminal to the shell; fg comes back");
  rows.add("Ctrl-D (empty line)", "leave; what runs can be resumed");
  rows.lines.push_back({});
  rows.lines.push_back({{"While something is asked", Tone::heading}});
  rows.add("an approval", "y, s, a or n as shown; a reason may follow n");
  rows.add("a question", "a number, or your own words");
  rows.add("a command",
           "is carried out, or has its turn, and it is asked again; /quit leaves at once; an answer that "
           "begins with a slash is typed with two: //tree answers \"/tree\"");
}

Lines agent_lines(const Profiles& profiles, const ChatState& state) {
  Rows rows(state);
  for (const auto* profile : profiles.offered()) {
    const std::string about =
        profile->description.empty() ? "(no description provided)" : profile->description;
    rows.add(profile->name, on_one_line(about));
  }
  return rows.lines;
}

Result<Lines> session_lines(const Store& store, const ChatState& state) {
  TRY(auto roots, store.sessions({.roots_only = true, .most = kMostListed}));
  roots = as_seen(store, std::move(roots));
  std::vector<ListedTree> trees;
  for (const auto& root : roots) {
    TRY(auto sessions, store.sessions({.tree = root.id, .most = kAllSessions}));
    trees.push_back({root, as_seen(store, std::move(sessions))});
  }
  if (trees.empty()) return Lines{{{"no sessions yet", Tone::faint}}};
  return table_rows(list_text(trees, {}), columns_of(state));
}

Result<Session> current(const Store& store, const ChatState& state) {
  if (state.root.empty())
    return fail(ErrorCode::not_found, "nothing has been said yet", "type something first");
  TRY(const auto session, store.session(state.root));
  if (!session)
    return fail(ErrorCode::not_found, "this session is not on record yet",
                "wait a moment, then type it again");
  return *session;
}

Result<Lines> tree_of(const Store& store, const ChatState& state, WallTime now) {
  TRY(auto root, current(store, state));
  TRY(auto sessions, store.sessions({.tree = root.id, .most = kAllSessions}));
  root = as_seen(store, std::move(root));
  auto lines = table_rows(tree_text(root, as_seen(store, std::move(sessions)), now, {}), columns_of(state));
  if (const std::size_t later = not_begun(state.tree))
    lines.push_back(line_of(fmt::format("({} not begun yet)", later), Tone::faint));
  return lines;
}

Lines cost_lines(const ChatState& state) {
  Rows rows(state);
  const auto add = [&rows](std::string_view whose, const Usage& usage) {
    const std::string cost = cost_text(usage);
    rows.add(whose, fmt::format("{}  {}", tokens_text(usage), cost.empty() ? "price not known" : cost));
  };
  for (const auto& node : state.tree.nodes) add(fmt::format("[{}]", node.label), node.usage);
  add("all", usage_of(state.tree));
  return rows.lines;
}

Result<Lines> export_lines(Program& program, const Store& store, const ChatState& state,
                           const std::string& file) {
  if (file.empty()) return fail(ErrorCode::invalid, "/export needs a file's name", "type /export chat.txt");
  TRY(const auto session, current(store, state));
  TRY(const auto events, store.events_of_session(session.id));
  TRY(const auto path, absolute_path(file, program.disk.current_folder()));
  if (program.disk.status(path))
    return fail(ErrorCode::exists, path + " exists already", "choose another name");
  const std::size_t slash = path.rfind('/');
  TRY(const auto folder, program.disk.open(slash == 0 ? "/" : path.substr(0, slash), IfAbsent::fail));
  TRY(folder->replace(path.substr(slash + 1), transcript_text(session, events)));
  return Lines{line_of("written to " + path, Tone::faint)};
}

}  // namespace

Lines help_lines(const ChatState& state) {
  Rows rows(state);
  rows.lines.push_back({{"Keys", Tone::heading}});
  state.tells_children ? add_keys_of_plain_lines(rows) : add_keys(rows);
  rows.lines.push_back({});
  rows.lines.push_back({{"Commands", Tone::heading}});
  for (const auto& command : slash_commands())
    rows.add(trimmed(fmt::format("{} {}", command.name, command.arguments)), command.about);
  return rows.lines;
}

Lines permission_lines(const std::vector<Rule>& rules, const ChatState& state) {
  Rows rows(state);
  for (const auto& rule : rules) rows.add(name_of(rule.decision), to_text(rule));
  for (const auto& rule : state.session_rules) {
    const auto written = state.written_rules.find(rule);
    const bool is_written = written != state.written_rules.end();
    rows.add(is_written ? "allow" : "allow (this session)",
             is_written ? fmt::format("{} (from now on, by {})", rule, written->second) : rule);
  }
  const Line otherwise =
      line_of("Where no rule speaks: reading here is allowed, everything else is asked about.", Tone::faint);
  for (auto& line : wrapped(otherwise, columns_of(state))) rows.lines.push_back(std::move(line));
  return rows.lines;
}

Result<Lines> lines_of_command(Program& program, const Runtime& runtime, const ChatState& state,
                               const DoCommand& command) {
  const Store& store = runtime.store();
  if (command.name == "/help") return help_lines(state);
  if (command.name == "/model") {
    const Line how =
        line_of(fmt::format("/model NAME chooses another; `{}` lists them", program.command_line("models")),
                Tone::faint);
    Lines lines = wrapped(how, columns_of(state));
    if (state.next_model)
      lines.insert(lines.begin(),
                   line_of(fmt::format("from the next input on: {}", state.next_model->name), Tone::faint));
    lines.insert(lines.begin(), line_of(state.model.name));
    return lines;
  }
  if (command.name == "/agents") return agent_lines(runtime.profiles(), state);
  if (command.name == "/sessions") return session_lines(store, state);
  if (command.name == "/tree") return tree_of(store, state, program.loop.clock().wall());
  if (command.name == "/cost") return cost_lines(state);
  if (command.name == "/permissions") {
    const auto rules = program.rules();
    if (!rules) return std::unexpected(rules.error().error);
    return permission_lines(*rules, state);
  }
  if (command.name == "/export") return export_lines(program, store, state, command.arguments);
  std::vector<std::string> known;
  for (const auto& each : slash_commands()) known.emplace_back(each.name);
  const auto near = nearest(command.name, known, 1);
  return fail(ErrorCode::invalid, fmt::format("there is no {}", shorten(command.name, 40)),
              near.empty() ? "type /help" : fmt::format("did you mean {}?", near.front()));
}

std::optional<std::string> acknowledgement_of(const ChatState& state, const Intent& intent) {
  const auto label_of = [&state](const SessionId& session) {
    const TreeNode* node = find_node(state.tree, session);
    return node ? node->label : session.value;
  };
  if (const auto* nudge = std::get_if<NudgeOne>(&intent))
    return fmt::format("[{}] reads it before its next step", label_of(nudge->session));
  if (const auto* cancel = std::get_if<CancelOne>(&intent))
    return fmt::format("[{}] is being cancelled; what it found is kept", label_of(cancel->session));
  if (const auto* sent = std::get_if<SendToBackground>(&intent))
    return fmt::format("[{}] goes to the background; its report comes later", label_of(sent->session));
  if (const auto* given = std::get_if<GiveAnswer>(&intent)) {
    const auto asker = std::ranges::find(state.tree.nodes, given->question_id, &TreeNode::question);
    if (asker != state.tree.nodes.end()) return fmt::format("[{}] has its answer", asker->label);
  }
  return std::nullopt;
}

Result<Session> root_to_go_on_with(const Store& store, const std::string& typed,
                                   const SessionId& current_root) {
  if (!typed.empty()) {
    TRY(const auto session, find_session(store, typed));
    TRY(const auto root, store.session(session.tree));
    if (root && root->agent == kCommandAgent && is_terminal(root->state))
      return fail(ErrorCode::invalid, fmt::format("{} is a command of yours, not a chat", root->id.value),
                  fmt::format("`deputy sessions tree {}` names the agents that it started; leave, and go on "
                              "with one by `deputy task AGENT TEXT --resume ID`",
                              root->id.value));
    return root.value_or(session);
  }
  if (!current_root.empty()) {  // left by this chat itself, as on a full disk; it holds it, so that it looks
                                // like one at work
    TRY(auto current, store.session(current_root));
    if (current && !is_terminal(current->state)) return *std::move(current);
  }
  TRY(auto unfinished, left_unfinished(store));
  if (!unfinished.empty()) return std::move(unfinished.front());
  TRY(const auto roots, store.sessions({.roots_only = true, .most = kMostListed}));
  const auto usable = [&](const Session& root) {
    const auto holder = store.holder(root.id);  // as of another chat that is open
    return root.id != current_root && root.agent != kCommandAgent && !(holder && *holder);
  };
  const auto newest = std::ranges::find_if(roots, usable);
  if (newest == roots.end())
    return fail(ErrorCode::not_found, "there is no earlier session", "go on in this one");
  return *newest;
}

std::string told_of_going_on(const Session& root) {
  constexpr std::size_t kPromptCharacters = 60;
  const std::string prompt = goal_of(root, kPromptCharacters);
  return fmt::format("Going on with {}: {}", root.id.value, prompt.empty() ? root.label : prompt);
}

void fold_history(ChatState& state, const SessionId& root, std::vector<Event> events) {
  if (state.root != root)  // those of the other session alone
    std::erase_if(state.session_rules,
                  [&state](const std::string& rule) { return !state.written_rules.contains(rule); });
  state.root = root;
  state.chosen.reset();
  state.tree = {};
  state.logs.clear();
  state.heard.clear();
  state.questions.clear();
  for (const auto& [event, origin] : with_origins(std::move(events))) {
    const auto* asked = std::get_if<QuestionAsked>(&event.fact);
    if (asked && asked->question.kind != QuestionKind::to_parent) {  // what is open is asked again
      keep_question(state, event.run.session, asked->question);
    } else {
      (void)apply(state, event, origin);
    }
  }
  state.is_running = false;
  state.only_waits = false;
}

std::vector<std::string> entries_of(const Disk& disk, const std::string& workspace,
                                    const std::string& folder) {
  std::vector<std::string> names;
  const auto opened = disk.open(workspace, IfAbsent::fail);
  const auto entries =
      opened ? (*opened)->list(folder.empty() ? "." : folder) : fail(ErrorCode::not_found, "");
  if (!entries) return names;
  for (const auto& entry : *entries)
    names.push_back(entry.status.kind == EntryKind::folder ? entry.name + "/" : entry.name);
  return names;
}

std::string for_model_line(const ModelName& model) {
  return is_rehearsal(model) ? model.value + " (no language model)" : model.value;
}

std::int64_t window_of(const Models& models, const ModelName& model) {
  const auto provider = models.find(model);
  return provider ? (*provider)->window(model) : 0;
}

}  // namespace deputy
