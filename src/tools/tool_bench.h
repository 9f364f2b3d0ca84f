// For tests of tools: a workspace in memory, a journal that remembers, programs that a test defines, and
// call(), which runs one call of a tool as the Toolbox would, arguments checked.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "async/sim_loop.h"
#include "base/disk.h"
#include "base/json_schema.h"
#include "guard/rules.h"
#include "support/run.h"
#include "tools/tool.h"
#include "tools/toolbox.h"

namespace deputy {

class RememberingJournal final : public Journal {
 public:
  Task<Result<void>> record(std::vector<Event> events) override {
    if (error) co_return std::unexpected(*error);
    for (const Event& event : events) recorded.push_back(event);
    units.push_back(std::move(events));
    co_return Result<void>{};
  }
  void ride_along(std::vector<Event>) override {}

  std::vector<Event> recorded;
  std::vector<std::vector<Event>> units;  // the same, by what was recorded together
  std::optional<Error> error;
};

class NobodyAnswers final : public Asker {
 public:
  Task<Answer> ask(Question, StopToken) override { co_return Answer{.kind = AnswerKind::nobody}; }
};

class ToolBench {
 public:
  ToolBench()
      : disk(loop.clock()), workspace(disk.open("/work", IfAbsent::create).value()), processes(loop) {}

  void write(const std::string& path, std::string_view bytes) {
    if (const std::size_t slash = path.rfind('/'); slash != std::string::npos) {
      EXPECT_TRUE(workspace->make_folder(path.substr(0, slash)));
    }
    EXPECT_TRUE(workspace->replace(path, bytes));
  }

  ToolContext context() {
    return {.id = {.run = {}, .step = 3, .index = 1},
            .session = session,
            .journal = journal,
            .workspace = *workspace,
            .loop = loop,
            .pool = pool,
            .processes = processes,
            .asker = asker,
            .stop = stop,
            .files_seen = &files_seen};
  }

  // As the Toolbox would, but without asking the rules.
  ToolResult call(Tool& tool, std::string_view arguments) { return call(loop, tool, arguments, context()); }
  template <class AnyLoop>
  static ToolResult call(AnyLoop& loop, Tool& tool, std::string_view arguments, ToolContext context) {
    const json::object checked_arguments = checked(tool, arguments);
    if (const auto path = tool.path(checked_arguments)) {
      auto target = find_target(context.workspace, context.roots, *path);
      if (!target) return tool_error(to_text(target.error()));
      context.target = *std::move(target);
    }
    auto plan = run(loop, tool.plan(checked_arguments, context));
    if (!plan) return std::move(plan).error();
    context.intent = *std::move(plan);
    return run(loop, tool.run(checked_arguments, context));
  }

  // One call through the whole pipeline, rules and all. A call that a crash broke off has left `traces`.
  ToolResult call_through(const Toolbox& box, std::string_view name, std::string_view arguments,
                          std::optional<std::vector<Fact>> traces = std::nullopt) {
    PendingCall call{.index = 1, .call = {"c1", std::string(name), std::string(arguments)}};
    call.started = traces.has_value();
    call.traces = std::move(traces).value_or(std::vector<Fact>{});
    ToolContext with = context();
    with.at_limit = at_limit;
    EXPECT_TRUE(run(loop, box.run({call}, std::move(with))));
    if (applied.empty()) return tool_error("nothing was recorded");
    const auto* finished = std::get_if<CallFinished>(&applied.back().fact);
    return finished ? finished->result : tool_error("no result was recorded");
  }

  static json::object checked(const Tool& tool, std::string_view arguments) {
    const auto parsed = parse_json_object(arguments);
    EXPECT_TRUE(parsed) << arguments;
    const auto schema = JsonSchema::compile(parse_json(tool.text().schema).value());
    EXPECT_TRUE(schema);
    for (const std::string& mistake : schema->mistakes_in(*parsed)) ADD_FAILURE() << mistake;
    return *parsed;
  }

  bool at_limit = false;
  SimLoop loop{1};
  MemoryDisk disk;
  std::unique_ptr<Folder> workspace;
  SimProcesses processes;
  InlinePool pool;
  RememberingJournal remembering;
  FilesSeen files_seen;
  std::vector<Event> applied;  // all that the journal was told, in order
  SessionJournal journal{remembering, SessionId("sess_1_aaaaaa"), RunId{SessionId("sess_1_aaaaaa"), 1},
                         [this](const Event& event) {
                           applied.push_back(event);
                           if (const auto* touched = std::get_if<FileTouched>(&event.fact))
                             files_seen.insert_or_assign(touched->file.path, touched->file.after);
                         }};
  Session session;
  NobodyAnswers asker;
  StopToken stop;
};

}  // namespace deputy
