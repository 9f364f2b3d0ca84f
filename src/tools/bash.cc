#include "tools/bash.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "base/text.h"
#include "guard/display.h"
#include "guard/programs.h"
#include "tools/command_outcome.h"
#include "tools/command_record.h"
#include "tools/kept_back.h"
#include "tools/workspace_mode.h"
#include "tools/workspace_path.h"

namespace deputy {
namespace {

constexpr std::string_view kDescription =
    R"(Runs a shell command in the workspace, sandboxed. Use the file tools to read, search and edit.)";

constexpr std::string_view kSchema = R"json({
"type":"object",
"properties":{
"command":{"type":"string","minLength":1,"maxLength":32768},
"description":{"type":"string","description":"what it does, in 5-10 words"},
"timeout":{"type":"integer","minimum":1,"maximum":600000,"description":"milliseconds (120000)"},
"run_in_background":{"type":"boolean","description":"answers with an id for task_status and task_cancel"}},
"required":["command"],
"additionalProperties":false})json";

constexpr std::size_t kPartialBytes = 16 * 1024;
constexpr std::size_t kMostOfScript = 16 * 1024 * 1024;

std::string command_of(const json::object& arguments) { return string_or(arguments, "command", ""); }

bool is_in_background(const json::object& arguments) {
  return bool_at(arguments, "run_in_background").value_or(false);
}

// To the workspace.
Access access_of(const Session& session) {
  using enum WorkspaceMode;
  return session.workspace_mode == shared || session.workspace_mode == worktree ? Access::write
                                                                                : Access::read;
}

// Whether what rules deny can be kept from the session's commands.
bool can_hide(const Session& session) {
  return session.sandbox_level.value_or(0) >= static_cast<int>(SandboxLevel::isolated);
}

// Where all is denied, the workspace is read-only to commands, at every level.
bool denies_changing_some(const Rules& rules) {
  return !denies_all_editing(rules) &&
         (rules.restricts("Edit", Decision::deny) || rules.restricts("Write", Decision::deny));
}

struct Script {
  std::string name;  // in the workspace
  std::string what;  // its hash, or "" where no such file is there yet
};

// The folder of the workspace that commands run in, "" for itself.
std::string folder_of(const Session& session) {
  return session.workspace_mode == WorkspaceMode::scratch ? scratch_folder(session.id) : "";
}

// Those in which the command may find its files: this one, and what its options enter from there, one after
// the other. A folder that appears later is a place more, and so shows.
Result<std::vector<std::string>> folders_of(const SimpleCommand& command, const Folder& workspace,
                                            const std::string& folder) {
  constexpr std::size_t kMost = 64;
  std::vector<std::string> found{folder.empty() ? "." : folder};
  for (const std::string& entered : folders_that_may_be_entered(command)) {
    for (std::size_t at = 0, known = found.size(); at < known; ++at) {
      const auto name = workspace_path(workspace, join_path(found[at], entered));
      const auto place = name ? workspace.look_up(*name) : std::unexpected(Error{});
      const bool is_folder = place && (*place)->status() && (*place)->status()->kind == EntryKind::folder;
      if (!is_folder || std::ranges::find(found, (*place)->name()) != found.end()) continue;
      if (found.size() == kMost) {
        return fail(ErrorCode::invalid,
                    fmt::format("its options name more than {} folders in which its scripts may lie, and "
                                "nobody can tell which it runs",
                                kMost - 1),
                    "run it in pieces, or by a path without such options");
      }
      found.push_back((*place)->name());
    }
  }
  return found;
}

// The files of the workspace that the command, run in this folder of it, says it runs; up to where it leaves
// that.
Result<std::vector<Script>> scripts_of(const std::string& command, const Folder& workspace,
                                       const std::string& folder) {
  std::vector<Script> scripts;
  const auto commands = read_shell(command);
  if (!commands) return scripts;
  for (const SimpleCommand& part : *commands) {
    if (changes_folder(part.words)) break;
    const auto files = files_that_may_run(part);
    if (files.empty()) continue;
    TRY(const auto folders, folders_of(part, workspace, folder));
    const bool may_lie_below = !folders_that_may_be_entered(part).empty();
    for (const std::string& beneath : folders) {
      for (const std::string& file : files) {
        auto name = workspace_path(workspace, join_path(beneath, file));
        // From a folder that appears later it may be in the workspace.
        if (!name && may_lie_below && !file.starts_with('/')) scripts.push_back({file, ""});
        if (!name) continue;
        const auto place = workspace.look_up(*name);
        const std::optional<FileStatus> status = place ? (*place)->status() : std::nullopt;
        const auto bytes = status && status->kind == EntryKind::file ? (*place)->read(0, kMostOfScript)
                                                                     : std::unexpected(Error{});
        scripts.push_back({place ? (*place)->name() : *std::move(name), bytes ? sha256_hex(*bytes) : ""});
      }
    }
  }
  return scripts;
}

// Refuses the script of a command that is fed, if it is a link out of the workspace: it may lead to that very
// input, which nobody has judged as code.
Result<void> check_fed_scripts(const std::string& command, const Folder& workspace,
                               const std::string& folder) {
  const auto commands = read_shell(command);
  if (!commands) return {};
  for (const SimpleCommand& part : *commands) {
    if (!is_fed(part)) continue;
    const auto scripts = scripts_that_may_run(part);
    if (scripts.empty()) continue;
    TRY(const auto folders, folders_of(part, workspace, folder));
    for (const std::string& beneath : folders) {
      for (const std::string& file : scripts) {
        const auto name = workspace_path(workspace, join_path(beneath, file));
        if (!name) continue;
        const auto place = workspace.look_up(*name);
        if (place || place.error().code != ErrorCode::denied) continue;
        return fail(
            ErrorCode::denied,
            fmt::format("{} leads out of the workspace, maybe to what the command is fed, which would be run",
                        shown_path(*name)),
            "name the script itself");
      }
    }
  }
  return {};
}

// All of them as one; nothing where there are none.
std::optional<FileChange> intent_of(const std::vector<Script>& scripts, const Folder& workspace) {
  if (scripts.empty()) return std::nullopt;
  std::string all;
  for (const Script& script : scripts) all += fmt::format("{} {}\n", sha256_hex(script.name), script.what);
  const std::string digest = sha256_hex(all);
  const auto there = std::ranges::find_if(scripts, [](const Script& script) { return !script.what.empty(); });
  const Script& named = there == scripts.end() ? scripts.front() : *there;
  return FileChange{join_path(workspace.path(), named.name), digest, digest};
}

// What a command has printed, from its beginning, for a file beside what the model is shown of it.
struct Printed {
  static constexpr std::size_t kMost = std::size_t{8} << 20;
  std::string text;
  std::uint64_t bytes = 0;

  void take(std::string_view piece) {
    bytes += piece.size();
    text.append(piece.substr(0, kMost - text.size()));
  }
};

// Says where, if it is more than is shown.
Task<std::string> kept_in_file(std::shared_ptr<Printed> printed, std::size_t shown, std::string name,
                               decltype(ToolContext::keep) keep) {
  if (printed->bytes <= shown || !keep) co_return "";
  const bool is_whole = printed->bytes == printed->text.size();
  const auto path = co_await keep(std::move(name), std::move(printed->text));
  if (!path) {
    co_return fmt::format(
        "\n[{} bytes were printed; what is not shown is lost: much was kept already, or it could not be "
        "written. Let the command write to a file.]",
        with_thousands(printed->bytes));
  }
  const std::string what = is_whole ? "all" : fmt::format("the first {}", with_thousands(Printed::kMost));
  co_return fmt::format("\n[{} bytes were printed; {} of them are in {}: Read or Grep it.]",
                        with_thousands(printed->bytes), what, *path);
}

// What is done when the command has ended.
struct Aftermath {
  Loop& loop;
  Pool& pool;
  const Folder& workspace;
  std::optional<Repositories> known;  // nothing: it could make none
  std::shared_ptr<Printed> printed;
  std::size_t shown = 0;  // bytes of it that the model sees
  std::string file;
  decltype(ToolContext::keep) keep;
};

Task<std::string> told_afterwards(Aftermath after) {
  std::string told;
  if (after.known) {
    told = co_await on_pool(after.loop, after.pool,
                            [&after] { return set_aside_new(after.workspace, *after.known); });
  }
  told += co_await kept_in_file(after.printed, after.shown, after.file, after.keep);
  co_return told;
}

// A command that was stopped still says what it had printed so far.
std::string with_output(std::string_view end, std::string_view output) {
  const std::string shown = to_utf8(utf8_suffix(output, kPartialBytes));
  return trimmed(shown).empty() ? std::string(end) : fmt::format("{}\nIts output so far:\n{}", end, shown);
}

ToolResult told_after_crash(const CommandRecord& record, std::string_view evidence) {
  if (const auto exit_status = record.status.exit_status) {
    ToolResult told = *exit_status == 0 ? tool_ok("") : tool_error("");
    told.exit_status = exit_status;
    told.content = fmt::format(
        "The program stopped while this call ran, but by then the command had ended{}, with exit status {}. "
        "What it printed is lost. It was not run again.",
        record.status.timed_out ? " because its time was up" : "", *exit_status);
    return told;
  }
  if (!record.had_begun()) {
    return tool_error(
        "The program stopped before this command had begun: it was not run. Call it again if it is still "
        "wanted.");
  }
  return tool_error(fmt::format(
      "interrupted, outcome unknown: the command had begun when the program stopped, and was ended with it, "
      "somewhere in the middle. It was not run again. Check the state it would have changed before you "
      "decide what to do.{}{}",
      evidence.empty() ? "" : " ", evidence));
}

// How it ended is a fact of the run that started it, as long as that lasts.
BackgroundCommands::OnExit record_of_exit(const ToolContext& context) {
  return [journal = context.journal.weak_from_this(),
          place = SessionJournal::Place{context.id.step, context.id.index}](int status) {
    if (const auto alive = journal.lock()) alive->ride_along(place, CommandEnded{status});
  };
}

}  // namespace

std::string background_id(const CallId& call) { return fmt::format("bash_{}_{}", call.step, call.index); }

const ToolText& BashTool::text() const {
  static const ToolText text{"Bash", std::string(kDescription), std::string(kSchema)};
  return text;
}

std::string BashTool::shown(const json::object& arguments) const {
  return shorten(on_one_line(command_of(arguments)), 120);
}

std::string BashTool::subject(const json::object& arguments) const { return command_of(arguments); }

Verdict BashTool::judge(const Rules& rules, const json::object& arguments, const ToolContext& context) const {
  Verdict verdict = Tool::judge(rules, arguments, context);
  if (verdict.decision != Decision::allow) return verdict;
  if (rules.restricts("Read", Decision::ask))
    return Verdict::ask("a rule wants to be asked before some files are read, and a command may read them");
  if (rules.restricts("Read", Decision::deny) && !can_hide(context.session)) {
    return Verdict::ask(
        "a rule denies reading some files, and they cannot be kept from a command here: that needs sandbox "
        "level 2");
  }
  if (denies_changing_some(rules) && access_of(context.session) == Access::write &&
      !can_hide(context.session)) {
    return Verdict::ask(
        "a rule denies changing some files, and a command cannot be kept from it here: that needs sandbox "
        "level 2");
  }
  return verdict;
}

std::string BashTool::approval_text(const json::object& arguments, const ToolContext& context) const {
  const WorkspaceMode mode = context.session.workspace_mode;
  const std::string where = join_path(context.workspace.path(), folder_of(context.session));
  const ProcessSpec spec = spec_for(arguments, context);
  return fmt::format("Run in {}{}{}, at most {}{}:\n{}", shown_path(where),
                     mode == WorkspaceMode::read_only ? " (read-only)" : "",
                     is_in_background(arguments) ? " in the background" : "",
                     to_text(Duration(spec.time_limit)), spec.network ? ", with the network" : "",
                     shown_command(command_of(arguments)));
}

ProcessSpec BashTool::spec_for(const json::object& arguments, const ToolContext& context) const {
  const WorkspaceMode mode = context.session.workspace_mode;
  ProcessSpec spec{.argv = {"bash", "-c", command_of(arguments)},
                   .folder = &context.workspace,
                   .network = context.session.network,
                   .environment = {{"PATH", "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"},
                                   {"HOME", "/tmp"},
                                   {"TMPDIR", "/tmp"},
                                   {"LANG", "C.UTF-8"},
                                   {"TERM", "dumb"},
                                   {"PAGER", "cat"},
                                   {"GIT_PAGER", "cat"},
                                   {"GIT_TERMINAL_PROMPT", "0"}},
                   .need = policy_.least};
  spec.folder_access = access_of(context.session);
  // A worktree is the child's own, its history is the repository's: it may look at that.
  if (const std::string own = "/" + scratch_folder(context.session.id);
      mode == WorkspaceMode::worktree && context.workspace.path().ends_with(own)) {
    const std::string& path = context.workspace.path();
    spec.roots.push_back({join_path(path.substr(0, path.size() - own.size()), ".git"), Access::read});
  }
  for (const Folder* root : context.roots) spec.roots.push_back({root->path(), Access::read});
  const bool in_background = is_in_background(arguments);
  const auto usual = in_background ? policy_.background_time_limit : policy_.time_limit;
  std::chrono::milliseconds limit(integer_or(arguments, "timeout", usual.count()));
  if (!in_background) limit = std::min(limit, policy_.longest_time_limit);
  spec.time_limit = std::chrono::ceil<std::chrono::seconds>(limit);
  return spec;
}

Task<Tool::Planned> BashTool::plan(json::object arguments, ToolContext context) {
  co_return co_await on_pool(context.loop, context.pool,
                             [command = command_of(arguments), &workspace = context.workspace,
                              folder = folder_of(context.session)]() -> Planned {
                               const auto scripts = scripts_of(command, workspace, folder);
                               if (!scripts) {
                                 return std::unexpected(tool_error(
                                     fmt::format("The command was not run: {}.", to_text(scripts.error()))));
                               }
                               return intent_of(*scripts, workspace);
                             });
}

Task<ToolResult> BashTool::run(json::object arguments, ToolContext context) {
  std::string command = command_of(arguments);
  if (command.contains('\0'))
    co_return tool_error("The command holds a NUL byte; no shell can take that. Leave it out.");
  if (context.intent) {
    const auto script = co_await plan(arguments, context);
    if (!script || *script != context.intent) {
      co_return tool_error(
          fmt::format("The command was not run: {} was changed after it was approved, or another script that "
                      "it runs. Look "
                      "at them, then call it again.",
                      shown_path(context.intent->path)));
    }
  }
  ProcessSpec spec = spec_for(arguments, context);
  std::shared_ptr<const Folder> own;
  if (context.session.workspace_mode == WorkspaceMode::scratch) {
    auto opened = co_await on_pool(context.loop, context.pool, [&context] {
      return context.workspace.open_folder(scratch_folder(context.session.id));
    });
    if (!opened)
      co_return tool_error(fmt::format("Your own folder cannot be opened: {}.", to_text(opened.error())));
    own = *std::move(opened);
    spec.folder = own.get();
    spec.folder_access = Access::write;
    spec.roots.push_back({context.workspace.path(), Access::read});
  }
  const Access access = access_of(context.session);
  auto kept =
      co_await on_pool(context.loop, context.pool, [&context, &command, access]() -> Result<KeptBack> {
        TRY(check_fed_scripts(command, context.workspace, folder_of(context.session)));
        return kept_back(context, access);
      });
  if (!kept) co_return tool_error(fmt::format("The command was not run: {}.", to_text(kept.error())));
  // Where it was not asked about because the sandbox would do it, the sandbox must.
  if (kept->has_denied && can_hide(context.session)) spec.need = std::max(spec.need, SandboxLevel::isolated);
  if (kept->is_all_fixed) spec.folder_access = Access::read;
  spec.hidden = std::move(kept->hidden);
  spec.fixed = std::move(kept->fixed);
  const auto printed = std::make_shared<Printed>();
  spec.on_output = [printed](std::string_view piece) { printed->take(piece); };
  Aftermath after{.loop = context.loop,
                  .pool = context.pool,
                  .workspace = context.workspace,
                  .known = {},
                  .printed = printed,
                  .shown = most_result_bytes(),
                  .file = to_text(context.id) + ".txt",
                  .keep = context.keep};
  std::optional<KnownRepositories> known;
  if (access == Access::write) {
    known = known_of(kept->repositories);
    known->until = context.loop.clock().wall() + spec.time_limit + kGraceOfCommand;
    after.known = std::move(kept->repositories);
  }
  BackgroundCommands::Afterwards afterwards = [after = std::move(after)] { return told_afterwards(after); };
  if (context.state) {
    spec.record = EndRecord{context.state, command_record(context.id)};
    const auto made =
        co_await on_pool(context.loop, context.pool, [&state = *context.state, call = context.id, &known] {
          return make_command_record(state, call, known);
        });
    if (!made) co_return tool_error(fmt::format("The command was not run: {}.", to_text(made.error())));
  }
  if (is_in_background(arguments))
    co_return start(std::move(command), std::move(spec), std::move(own), context, std::move(afterwards));
  ToolResult result = co_await run_here(std::move(spec), context);
  result.content += co_await afterwards();
  co_return result;
}

Task<ToolResult> BashTool::after_crash(ToolContext context) {
  if (!context.state) co_return co_await Tool::after_crash(context);
  const auto found = co_await on_pool(
      context.loop, context.pool,
      [&state = *context.state, call = context.id] { return read_command_record(state, call); });
  if (!found) co_return co_await Tool::after_crash(context);
  const CommandRecord record = found->value_or(CommandRecord{});
  std::string set_aside;
  if (record.had_begun() && record.known) {
    set_aside = co_await on_pool(
        context.loop, context.pool,
        [&workspace = context.workspace, &known = *record.known] { return set_aside_new(workspace, known); });
  }
  std::string evidence;
  if (record.was_in_the_middle()) {
    evidence = co_await on_pool(context.loop, context.pool,
                                [&workspace = context.workspace, since = record.written] {
                                  return told_of_files_since(workspace, since);
                                });
  }
  ToolResult told = told_after_crash(record, evidence);
  told.content += set_aside;
  co_return told;
}

Task<ToolResult> BashTool::run_here(ProcessSpec spec, ToolContext context) const {
  const auto printed = std::make_shared<std::string>();
  const auto limit = spec.time_limit;
  spec.on_output = [printed, also = std::move(spec.on_output),
                    output = context.output](std::string_view piece) {
    also(piece);
    if (output) output(piece);
    append_tail(*printed, piece, kPartialBytes);
  };
  auto result = co_await context.processes.run(std::move(spec), context.stop);
  if (!result) {
    if (result.error().code == ErrorCode::cancelled)
      co_return tool_error(with_output("Stopped before the command had ended.", *printed));
    co_return tool_error(fmt::format("The command was not run: {}.", to_text(result.error())));
  }
  if (result->timed_out) {
    co_return tool_error(
        fmt::format("{}\nIt was given {} seconds. Give it more with timeout, or run it in the background.",
                    told_of(*result), limit.count()));
  }
  ToolResult told = result->exit_status == 0 ? tool_ok(told_of(*result)) : tool_error(told_of(*result));
  told.exit_status = result->exit_status;
  co_return told;
}

ToolResult BashTool::start(std::string command, ProcessSpec spec, std::shared_ptr<const Folder> own,
                           const ToolContext& context, BackgroundCommands::Afterwards afterwards) const {
  const std::string id = background_id(context.id);
  const auto started =
      background_.start(context.session.id, id, std::move(command), std::move(spec), std::move(own),
                        context.processes, context.stop, std::move(afterwards), record_of_exit(context));
  if (!started) return tool_error(fmt::format("The command was not started: {}.", to_text(started.error())));
  return tool_ok(fmt::format(
      "Started in the background as {}. See how it goes with task_status, end it with task_cancel. "
      "It ends with you.",
      id));
}

}  // namespace deputy
