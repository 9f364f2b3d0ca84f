#include "app/command_words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iterator>

#include "app/command_tree.h"
#include "base/text.h"
#include "delegation/profile_presets.h"

namespace deputy {
namespace {

constexpr const char* kAbout =
    "deputy hands work from one agent to others and keeps all they did: notes, transcripts, reports.";

void add_value(CLI::App& app, const std::string& name, Typed& typed, const std::string& kind,
               const std::string& about) {
  typed.option = app.add_option(name, typed.text, about)->type_name(kind);
}

// Each use takes one value, however often it is given, and the value stands as typed: no list in brackets.
void add_each_use(CLI::App& app, const std::string& name, std::vector<std::string>& values,
                  const std::string& kind, const std::string& about) {
  app.add_option(name, values, about)
      ->allow_extra_args(false)
      ->take_all()
      ->type_name(kind)
      ->option_text(kind);  // else the help has dots behind it, as if one use took several
}

void add_common_options(CLI::App& app, Words& raw) {
  add_value(app, "--model", raw.model, "MODEL", "PROVIDER/NAME, or a known name alone; see `deputy models`");
  add_value(app, "--cwd", raw.cwd, "DIR", "work in this folder");
  add_value(app, "--home", raw.home, "DIR",
            "keep state here; without it DEPUTY_HOME, else ~/.local/state/deputy");
  add_value(app, "--config", raw.config, "FILE", "settings; without it ~/.config/deputy/config.toml");
  add_value(app, "--output", raw.output, "FORM",
            "text, json, or stream-json: one event a line as it happens");
  add_each_use(app, "--allow", raw.allow, "RULE",
               "let these calls pass: Read, Read(src/**); may be given several times");
  add_each_use(app, "--ask", raw.ask, "RULE", "ask before these calls; may be given several times");
  add_each_use(app, "--deny", raw.deny, "RULE",
               "refuse these calls; may be given several times, and wins over --ask and --allow");
  app.add_flag("--yes", raw.yes,
               "approve what would be asked, which without a terminal is refused; never what is denied");
  add_value(app, "--max-depth", raw.max_depth, "N", "how deep children may nest (3), or none");
  add_value(app, "--max-delegations", raw.max_delegations, "N", "children in all (64), or none");
  add_value(app, "--max-children", raw.max_children, "N", "running at once per parent (8), or none");
  add_value(app, "--max-live", raw.max_live, "N", "running at once in all (20), or none");
  add_value(app, "--max-steps", raw.max_steps, "N", "model replies in all (none)");
  add_value(app, "--max-tokens", raw.max_tokens, "N", "tokens in all, in and out (none)");
  add_value(app, "--max-cost", raw.max_cost, "USD", "US dollars in all (none); never more is spent");
  add_value(app, "--timeout", raw.timeout, "TIME",
            "for the whole tree, of `task` for its agent: 90s, 5m, 1h (none)");
  add_value(app, "--color", raw.colour, "WHEN", "auto, always or never");
  app.add_flag("--plain", raw.plain, "progress as plain lines, also on a terminal");
  app.add_flag("-v", raw.verbose, "more progress, as plain lines: steps, results, answers");
}

CLI::App* add_command(CLI::App& parent, const std::string& name, const std::string& about,
                      const std::string& example) {
  CLI::App* command = parent.add_subcommand(name, about);
  command->fallthrough();
  command->footer(fmt::format("Example:\n  {}\n\nOptions for every command: `deputy --help`", example));
  return command;
}

void add_run(CLI::App& app, Words& raw) {
  auto* run = add_command(app, "run", "Have one agent work on a prompt; it may delegate",
                          "deputy run --yes \"Delegate a survey of this folder, then summarise it\"");
  run->footer(run->get_footer() +
              "\n\nWithout a terminal nobody can be asked: what needs approval is refused, unless --yes or "
              "--allow gives it beforehand.");
  add_value(*run, "prompt", raw.prompt, "", "what to do; without it, read from stdin");
}

void add_delegate(CLI::App& app, Words& raw) {
  auto* batch =
      add_command(app, "delegate", "Run a batch of read-only children straight from the shell",
                  "deputy delegate --task tests=\"What is untested?\" --task docs=\"What is undocumented?\"");
  add_each_use(*batch, "--task", raw.tasks, "LABEL=PROMPT", "one child; up to 8 of these");
  add_value(*batch, "--file", raw.file, "FILE", "the tasks as the Delegate tool's own JSON; '-' is stdin");
  add_each_use(*batch, "--context", raw.context, "PATH",
               "a file to put before every prompt; up to 10 of these");
  add_value(*batch, "--concurrency", raw.concurrency, "N", "children at once, 1 to 4 (2)");
  add_value(*batch, "--return", raw.layout, "LAYOUT", "markdown or json");
  add_value(*batch, "--max-output-tokens", raw.max_output_tokens, "N", "of each reply, 100 to 16384 (4096)");
}

void add_sessions(CLI::App& app, Words& raw) {
  auto* sessions = add_command(app, "sessions", "Look at what was kept", "deputy sessions ls");
  sessions->require_subcommand(1);
  auto view = [&](const std::string& name, const std::string& about, SessionView chosen) {
    const bool lists = chosen == SessionView::list;
    auto* command =
        add_command(*sessions, name, about,
                    lists ? "deputy sessions ls --live" : fmt::format("deputy sessions {} newest", name));
    command->callback([&raw, chosen] { raw.sessions.view = chosen; });
    if (lists) {
      command->add_flag("--live", raw.sessions.live_only, "only what has not ended");
    } else {
      command->add_option("id", raw.sessions.id, "a session's id, the beginning of one, or newest")
          ->required()
          ->type_name("");
    }
    return command;
  };
  auto* list = view("ls", "List root sessions, newest first, and who of their children has not ended",
                    SessionView::list);
  list->footer(
      list->get_footer() +
      "\n\nIt shows of each: id, when it was made, state, agent, label, how many children it has, the "
      "tokens of all of them, and the beginning of the prompt. With --live: id, path from the root, "
      "depth, state, start, deadline (its own or that of a session above it, whichever comes first), "
      "for how long nothing was heard of it, and the prompt. Children that have ended are in "
      "`deputy sessions tree ID`; that of `deputy task`, whose id it gave out, is listed too.");
  view("show", "Show all that is known of one session", SessionView::show);
  auto* tree =
      view("tree", "Show a session and its children with state, tokens, cost, time", SessionView::tree);
  tree->footer(
      tree->get_footer() +
      "\n\nThe cost is - where no model has answered, $? where it is not known; the time of one that "
      "was left without an end is followed by +: it is that of the last that was recorded.");
  view("tail", "Follow what a session and its children do, until it ends", SessionView::tail);
  view("transcript", "Show what was said, by whom", SessionView::transcript);
  view("notes", "Show the notes of a session and its children", SessionView::notes);
  view("export", "Print every event of the whole tree as JSON lines", SessionView::events);
  view("cancel", "Stop a session and all below it, also one that another process runs", SessionView::cancel);
  for (const auto& [name, about, chosen, told] :
       {std::tuple("answer", "Answer what a session asks", SessionView::answer,
                   "what it is told; where it asks for permission: yes, or no with a reason"),
        std::tuple("nudge", "Tell a running session something; it reads it between two steps",
                   SessionView::nudge, "what it is told")}) {
    auto* command = view(name, about, chosen);
    command->add_option("text", raw.sessions.text, told)->required()->type_name("");
    command->footer(
        fmt::format("Example:\n  deputy sessions {} newest \"Use the staging "
                    "server\"\n\nOptions for every command: `deputy --help`",
                    name));
  }
  auto* prune = add_command(*sessions, "prune", "Remove what was kept of trees that have ended",
                            "deputy sessions prune --older-than 30d --dry-run");
  prune->callback([&raw] { raw.sessions.view = SessionView::prune; });
  add_value(*prune, "id", raw.pruned, "", "one tree, or newest; without it, all that ended long enough ago");
  add_value(*prune, "--older-than", raw.older_than, "TIME", "since they ended: 12h, 30d; 0s for all (7d)");
  prune->add_flag("--dry-run", raw.sessions.dry_run, "only say what would go, and how much it is");
}

void add_task(CLI::App& app, Words& raw) {
  auto* task = add_command(app, "task", "Run one agent by name and wait for its report",
                           "deputy task explore \"Where is the configuration read?\"");
  task->add_option("agent", raw.task_agent, "its name; see `deputy agents ls`")->required()->type_name("");
  add_value(*task, "prompt", raw.task_prompt, "", "what to do; without it, read from stdin");
  add_value(*task, "--timeout", raw.task_timeout, "TIME",
            "above 0, such as 90s or 10m, or none, in place of the agent's own; the same before the command");
  add_value(*task, "--resume", raw.task_resume, "ID",
            "a session that has ended: it goes on with the prompt, and with its own model");
  task->add_flag("--background", raw.task_background, "print its id and let it go on by itself");
}

void add_agents(CLI::App& app, Words& raw) {
  auto* agents =
      add_command(app, "agents", "See and set up the agents that work can be handed to", "deputy agents ls");
  agents->require_subcommand(1);
  const auto action = [&](const char* name, const char* about, const char* example, AgentsAction chosen) {
    auto* command = add_command(*agents, name, about, example);
    command->callback([&raw, chosen] { raw.agents.action = chosen; });
    return command;
  };
  action("ls", "List all agents and where each came from", "deputy agents ls", AgentsAction::list);
  action("show", "Show all that is known of one agent", "deputy agents show explore", AgentsAction::show)
      ->add_option("name", raw.agents.name, "its name")
      ->required()
      ->type_name("");
  auto* check = action("check", "Say what is wrong with agents, what was mapped and what ignored",
                       "deputy agents check", AgentsAction::check);
  add_value(*check, "file", raw.checked, "", "a file; without it, all of them");
  auto* init =
      action("init", "Write an agent to start from", "deputy agents init security", AgentsAction::init);
  init->add_option("preset", raw.agents.name, "security, testing, research, coding or blank")
      ->required()
      ->type_name("");
  init->add_flag("--project", raw.agents.in_project, "in this folder, not among your own");
  action("trust", "Use the agents of this folder", "deputy agents trust", AgentsAction::trust)
      ->add_flag("--undo", raw.agents.undo, "no longer use them");
}

void add_others(CLI::App& app, Words& raw) {
  auto* resume =
      add_command(app, "resume", "Continue what a crash or a stop left unfinished", "deputy resume");
  add_value(*resume, "id", raw.resumed, "", "a session of the tree; without it, the newest unfinished one");
  add_command(app, "models", "List the models that can be used here", "deputy models");
  auto* doctor = add_command(
      app, "doctor", "Check what works on this machine, and say how to fix what does not", "deputy doctor");
  add_value(
      *doctor, "--bundle", raw.bundled, "ID",
      "put that and all events of a session's tree into a file for a bug report, without secrets; newest "
      "for the newest");
  add_value(*doctor, "--replay", raw.replayed, "FILE",
            "run a bundle's tree again with a scripted model, and say where it goes another way");
  auto* completions = add_command(app, "completions", "Print what lets a shell complete the commands",
                                  "deputy completions bash >> ~/.bashrc");
  completions->footer(completions->get_footer() +
                      "\n\nFor zsh put them into ~/.zshrc, below compinit, or into a folder of $fpath as "
                      "_deputy; for fish into ~/.config/fish/completions/deputy.fish.");
  add_value(*completions, "shell", raw.shell, "", "bash, zsh or fish");
  completions->get_option("shell")->required();
  // Of no use to a person, and in no help: what completions ask.
  auto* complete =
      app.add_subcommand("complete", "Print the names that can stand at a place of a command line");
  complete->fallthrough()->group("");
  add_value(*complete, "kind", raw.completed, "", "sessions, agents or models");
  complete->get_option("kind")->required();
  add_command(app, "manual", "Print the manual page", "deputy manual | man -l -");
  auto* chat = add_command(app, "chat", "Talk to it, as `deputy` alone does on a terminal", "deputy chat");
  add_value(*chat, "--resume", raw.chat_resume, "ID", "a session to go on with, as /resume ID does there");
  add_command(app, "demo", "Try it with nothing configured: three children over the current folder",
              "deputy demo");
}

void add_everything(CLI::App& app, Words& raw) {
  app.require_subcommand(0, 1);
  app.set_version_flag("--version", fmt::format("deputy {}", DEPUTY_VERSION));
  app.footer("Try it:\n  deputy demo\n\nHelp on a command:\n  deputy COMMAND --help");
  add_common_options(app, raw);
  add_run(app, raw);
  add_delegate(app, raw);
  add_task(app, raw);
  add_agents(app, raw);
  add_sessions(app, raw);
  add_others(app, raw);
}

std::vector<std::string> choices_of(const CLI::Option& option) {
  const std::string name = option.get_name();
  if (name == "--output") return {"text", "json", "stream-json"};
  if (name == "--color") return {"auto", "always", "never"};
  if (name == "--return") return {"markdown", "json"};
  if (name == "shell") return {"bash", "zsh", "fish"};
  if (name == "preset") return preset_names();
  return {};
}

// What `deputy complete` is asked for its values.
std::string names_of(const CLI::Option& option) {
  const std::string name = option.get_name();
  if (name == "id" || name == "--resume" || name == "--bundle") return "sessions";
  if (name == "agent" || name == "name") return "agents";
  if (name == "--model") return "models";
  return {};
}

CommandOption option_of(const CLI::Option& option) {
  CommandOption found{
      .about = option.get_description(), .choices = choices_of(option), .names_of = names_of(option)};
  for (const auto& name : option.get_snames()) found.names.push_back("-" + name);
  for (const auto& name : option.get_lnames()) found.names.push_back("--" + name);
  if (found.names.empty()) found.names.push_back(option.get_name(true));
  if (option.nonpositional() && option.get_items_expected_max() > 0) found.kind = option.get_type_name();
  return found;
}

std::vector<const CLI::App*> shown_commands(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* command) { return !command->get_group().empty(); });
}

CommandTree tree_of(const CLI::App& app) {
  CommandTree tree{.name = app.get_name(), .about = app.get_description()};
  const std::string footer = app.get_footer();
  constexpr std::string_view kBefore = "Example:\n  ";
  if (footer.starts_with(kBefore)) {
    tree.example = footer.substr(kBefore.size());
    tree.example.erase(std::min(tree.example.find('\n'), tree.example.size()));
  }
  for (const auto* option : app.get_options())
    (option->nonpositional() ? tree.options : tree.arguments).push_back(option_of(*option));
  for (const auto* command : shown_commands(app)) tree.commands.push_back(tree_of(*command));
  return tree;
}

// The app of the command that was being read when it went wrong.
const CLI::App& innermost(const CLI::App& app) {
  const CLI::App* at = &app;
  while (!at->get_subcommands().empty()) at = at->get_subcommands().front();
  return *at;
}

std::string path_of(const CLI::App& app) {
  return app.get_parent() ? fmt::format("{} {}", path_of(*app.get_parent()), app.get_name()) : "deputy";
}

struct KnownWord {
  std::string word;
  std::string meant;  // what to type
};

// A value that an option may have is often typed as if it were one itself: --json. Where several may have it,
// the option of every command is meant.
std::vector<KnownWord> known_words(const CLI::App& app) {
  std::vector<KnownWord> words;
  std::vector<KnownWord> values;
  for (const CLI::App* at = &app; at; at = at->get_parent()) {
    for (const auto* option : at->get_options()) {
      if (option->get_lnames().empty()) continue;
      const std::string name = "--" + option->get_lnames().front();
      words.push_back({name, name});
      for (const auto& value : choices_of(*option))
        values.insert(values.begin(), KnownWord{"--" + value, fmt::format("{} {}", name, value)});
    }
  }
  for (const auto* command : shown_commands(app)) words.push_back({command->get_name(), command->get_name()});
  words.insert(words.end(), values.begin(), values.end());
  return words;
}

// Short words are near to others that have hardly a letter of theirs.
bool share_letters(std::string a, std::string b) {
  std::string shared;
  for (std::string* each : {&a, &b}) {
    std::erase(*each, '-');
    std::ranges::sort(*each);
  }
  std::ranges::set_intersection(a, b, std::back_inserter(shared));
  return 2 * shared.size() >= std::max(a.size(), b.size());
}

// Empty where nothing is near.
std::string meant_by(const CLI::App& at, const std::string& typed) {
  const auto known = known_words(at);
  std::vector<std::string> candidates;
  for (const auto& each : known) {
    if (share_letters(lowered(typed), lowered(each.word))) candidates.push_back(each.word);
  }
  const auto near = nearest(typed, candidates, 1);
  return near.empty() ? "" : std::ranges::find(known, near.front(), &KnownWord::word)->meant;
}

bool takes_arguments(const CLI::App& app) {
  return std::ranges::any_of(app.get_options(), [](const auto* option) { return !option->nonpositional(); });
}

// What the library says begins with the name of the option or argument that it is about, also where it could
// not convert the value of a flag.
const CLI::Option* option_meant(const CLI::App& at, std::string_view said) {
  constexpr std::string_view kOfFlags = "Could not convert: ";
  if (said.starts_with(kOfFlags)) said.remove_prefix(kOfFlags.size());
  const std::string name(said.substr(0, said.find_first_of(": ")));
  for (const CLI::App* app = &at; app; app = app->get_parent()) {
    if (const auto* found = app->get_option_no_throw(name)) return found;
  }
  return nullptr;
}

// The option that takes one value each time, where the word stands behind one of those.
const CLI::Option* option_of_one_more(const CLI::App& at, std::span<const std::string> words,
                                      const std::string& word) {
  const auto found = std::ranges::find(words, word);
  if (found == words.end() || found - words.begin() < 2) return nullptr;
  const CLI::Option* option = option_meant(at, *(found - 2));
  return option && option->get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll ? option : nullptr;
}

Error unexpected_word(const CLI::App& app, std::span<const std::string> words, const std::string& word) {
  const CLI::App& at = innermost(app);
  const bool is_option = word.starts_with('-') && word != "-";
  const bool takes_command = !is_option && !at.get_subcommands({}).empty();
  std::string message = fmt::format("unknown {} '{}'",
                                    is_option       ? "option"
                                    : takes_command ? "command"
                                                    : "argument",
                                    shorten(to_utf8(word), 80));
  const std::string meant = meant_by(at, word.substr(0, word.find('=')));
  std::string advice = meant.empty() ? "" : fmt::format("did you mean {}? ", meant);
  const CLI::Option* option = is_option ? nullptr : option_of_one_more(at, words, word);
  if (option)
    advice += fmt::format("{0} takes one {1} each time, and may be given again: {0} {1} {0} {1}; ",
                          option->get_name(), option->get_type_name());
  else if (!is_option && !takes_command)
    advice += takes_arguments(at) ? "put a text of several words in quotes; " : "leave it out; ";
  return {ErrorCode::invalid, std::move(message), fmt::format("{}see `{} --help`", advice, path_of(at))};
}

Error missing_argument(const CLI::App& at, const CLI::Option* argument) {
  const std::string advice = fmt::format("see `{} --help`", path_of(at));
  if (argument)
    return {ErrorCode::invalid,
            fmt::format("'{}' needs the argument '{}': {}", at.get_name(), argument->get_name(),
                        argument->get_description()),
            advice};
  std::vector<std::string> names;
  for (const auto* command : at.get_subcommands({})) names.push_back(command->get_name());
  return {ErrorCode::invalid,
          fmt::format("'{}' needs one of its commands: {}", at.get_name(), fmt::join(names, ", ")), advice};
}

Error misused_option(const CLI::Option& option) {
  const std::string name = option.get_name();
  if (option.get_items_expected_max() == 0)
    return {ErrorCode::invalid, fmt::format("{} takes no value", name), fmt::format("write {} alone", name)};
  if (option.count() > 1)
    return {ErrorCode::invalid, fmt::format("{} was given {} times, and can hold once", name, option.count()),
            "leave all of them out but one"};
  return {ErrorCode::invalid, fmt::format("{} has no value", name),
          fmt::format("write {} {}: {}", name, option.get_type_name(), option.get_description())};
}

Error error_of(const CLI::App& app, std::span<const std::string> words, const CLI::ParseError& error) {
  const bool is_missing = dynamic_cast<const CLI::RequiredError*>(&error) != nullptr;
  const bool is_about_words = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr || is_missing;
  // A word nobody knows is the mistake, also where what it was meant to be is missing because of it.
  if (const auto left = app.remaining(true); is_about_words && !left.empty()) {
    return unexpected_word(app, words, left.front());
  }
  const CLI::App& at = innermost(app);
  const CLI::Option* option = option_meant(at, error.what());
  if (is_missing) return missing_argument(at, option);
  if (option) return misused_option(*option);
  return {ErrorCode::invalid, on_one_line(error.what()), fmt::format("see `{} --help`", path_of(at))};
}

}  // namespace

std::optional<std::string> Typed::value() const {
  return option->count() > 0 ? std::optional(text) : std::nullopt;
}
std::string Typed::name() const { return option->get_name(); }

CommandTree command_tree() {
  Words raw;
  CLI::App app(kAbout, "deputy");
  add_everything(app, raw);
  return tree_of(app);
}

Result<std::variant<Words, TextArguments>> told_apart(std::span<const std::string> words) {
  Words raw;
  raw.known = std::make_shared<CLI::App>(kAbout, "deputy");
  CLI::App& app = *raw.known;
  add_everything(app, raw);
  std::vector<std::string> reversed(words.rbegin(), words.rend());       // as the library wants them
  const bool asks_for_help = !words.empty() && words.front() == "help";  // what other programs call --help
  if (asks_for_help) {
    reversed.pop_back();
    reversed.insert(reversed.begin(), "--help");
  }
  try {
    app.parse(std::move(reversed));
  } catch (const CLI::CallForHelp&) {
    if (const auto left = app.remaining(true); asks_for_help && !left.empty() && left.front() != "help")
      return std::unexpected(unexpected_word(app, words, left.front()));
    return TextArguments{.text = app.help(),
                         .is_help = true};  // of the innermost command, with the whole path to it
  } catch (const CLI::CallForVersion& version) {
    return TextArguments{fmt::format("{}\n", version.what())};
  } catch (const CLI::ParseError& error) {
    return std::unexpected(error_of(app, words, error));
  }
  if (const auto given = app.get_subcommands(); !given.empty()) raw.command = given.front()->get_name();
  return raw;
}

}  // namespace deputy
