// What a model can call. A Tool says what it is (name, text for the model, schema, effect class) and runs one
// call. It never throws into the loop and never decides whether it may run: the Toolbox has asked the guard
// before. Its result is bounded by the Toolbox afterwards.
#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "async/loop.h"
#include "async/pool.h"
#include "async/stop.h"
#include "async/task.h"
#include "base/disk.h"
#include "base/json.h"
#include "guard/rules.h"
#include "sandbox/processes.h"
#include "store/session_journal.h"
#include "tools/asker.h"
#include "tools/target.h"
#include "transcript/ids.h"
#include "transcript/message.h"
#include "transcript/session.h"

namespace deputy {

// What a restart may do about a call that had begun: pure and repeatable ones run again, a keyed one finds
// its own traces and finishes, a once call is reported as "outcome unknown" and never run a second time.
enum class Effect { pure, repeatable, keyed, once };

// Whether it stands in the way of others: a delegation runs beside its neighbours although it is keyed.
enum class Company { alone, beside_others };

struct ToolText {
  std::string name;
  std::string description;  // model-facing, short
  std::string schema;       // JSON Schema of the arguments, unknown properties refused
};

// What a call knows of who makes it and may reach. Identity is the runtime's; nothing in it comes from the
// model.
struct ToolContext {
  CallId id;
  const Session& session;
  SessionJournal& journal;
  const Folder& workspace;
  Loop& loop;
  Pool& pool;
  Processes& processes;
  Asker& asker;
  StopToken stop;
  ModelName model = {};                   // the one that made the call; children inherit it
  std::vector<Fact> traces = {};          // what an earlier attempt at this very call has left in the journal
  std::vector<const Folder*> roots = {};  // what may be reached beside the workspace
  std::string home = {};                  // the person's, for rules that are written with ~
  std::vector<SessionId> children = {};   // whose scratch folders it may see
  std::vector<std::string> hidden =
      {};  // folders that no tool sees: deputy's own state; absolute, without links
  const FilesSeen* files_seen = nullptr;  // kept by the session's conversation
  std::optional<Target> target = {};      // where the call's path leads; looked up before it was judged
  std::optional<FileChange> intent = {};  // what was recorded before it runs, this time or before a crash
  std::function<void(std::string_view)> output = {};  // what a command prints, as it comes; kept nowhere
  // Keeps a text that is too long for the model in a file of this name, without secrets, and says where the
  // session can read it; nothing where it could not be kept. May be empty.
  std::function<Task<std::optional<std::string>>(std::string name, std::string text)> keep = {};
  const Folder* state = nullptr;  // deputy's own, for what a restart has to know; nothing: none is kept
  bool at_limit = false;          // a grace step: only what keeps or reports findings still runs
};

// What the paths in rules are relative to.
Roots roots_of_rules(const ToolContext& context);

class Tool {
 public:
  virtual ~Tool() = default;
  virtual const ToolText& text() const = 0;
  virtual Effect effect() const = 0;
  // Whether all it does is to record facts: its intent becomes durable with them, and none needs to be so
  // before.
  virtual bool only_records() const { return effect() == Effect::pure; }
  virtual Company company() const {
    return effect() == Effect::pure ? Company::beside_others : Company::alone;
  }

  // What the model sees of a result at most; the rest is left out in the middle, and said so.
  virtual std::size_t most_result_bytes() const { return 32 * 1024; }
  // What holds where no rule speaks.
  virtual Decision by_default() const { return effect() == Effect::pure ? Decision::allow : Decision::ask; }

  // Whether it still runs in the grace step of a run at its limit: it keeps or reports what was found.
  virtual bool runs_at_limit() const { return false; }

  // The arguments in one short line for people: "src/auth.rs".
  virtual std::string shown(const json::object& arguments) const = 0;
  // The same however long it is, for who decides about it.
  virtual std::string in_full(const json::object& arguments) const { return shown(arguments); }
  // The argument that names a file or a folder. It is looked up before the rules are asked: they judge the
  // name that it leads to, and run() finds what was judged in its context.
  virtual std::optional<std::string> path(const json::object&) const { return std::nullopt; }
  // Whether that file is changed; then the session's workspace mode must allow it.
  virtual bool writes() const { return false; }
  // What the patterns of permission rules are matched against, where there is no path.
  virtual std::string subject(const json::object& arguments) const { return shown(arguments); }
  // What the rules say of the call.
  virtual Verdict judge(const Rules& rules, const json::object& arguments, const ToolContext& context) const;
  // What a person is asked before it runs, where the rules say ask.
  virtual std::string approval_text(const json::object& arguments, const ToolContext& context) const;

  // What run() will do to a file, worked out without doing it: it becomes part of the intent. The error is
  // for the model; then nothing is recorded and nothing runs.
  using Planned = std::expected<std::optional<FileChange>, ToolResult>;
  virtual Task<Planned> plan(json::object arguments, ToolContext context);
  // What it says now to a call that it does not let in whatever a person says: nobody is asked about that.
  // Nothing where it would run.
  virtual Task<std::optional<ToolResult>> refusal(json::object arguments, ToolContext context);

  // `arguments` are valid by the schema. `content` is bounded later; `call_id` is filled in by the Toolbox.
  virtual Task<ToolResult> run(json::object arguments, ToolContext context) = 0;
  // What is known of a `once` call that had begun when deputy died. It is told to the model, never run again.
  virtual Task<ToolResult> after_crash(ToolContext context);
};

ToolResult tool_ok(std::string content);
// The text must tell the model what was wrong and what to do instead.
ToolResult tool_error(std::string content);

}  // namespace deputy
