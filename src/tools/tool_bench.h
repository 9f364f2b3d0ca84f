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

namespace deputy {

class RememberingJournal final : public Journal {
 public:
  Task<Result<void>> record(std::vector<Event> events) override {
    if (error) co_return std::unexpected(*error);
    for (Event& event : events) recorded.push_back(std::move(event));
    co_return Result<void>{};
  }
  void ride_along(std::vector<Event>) override {}

  std::vector<Event> recorded;
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
            .stop = stop};
  }

  ToolResult call(Tool& tool, std::string_view arguments) {
    return run(loop, tool.run(checked(tool, arguments), context()));
  }

  static json::object checked(const Tool& tool, std::string_view arguments) {
    const auto parsed = parse_json_object(arguments);
    EXPECT_TRUE(parsed) << arguments;
    const auto schema = JsonSchema::compile(parse_json(tool.text().schema).value());
    EXPECT_TRUE(schema);
    for (const std::string& mistake : schema->mistakes_in(*parsed)) ADD_FAILURE() << mistake;
    return *parsed;
  }

  SimLoop loop{1};
  MemoryDisk disk;
  std::unique_ptr<Folder> workspace;
  SimProcesses processes;
  InlinePool pool;
  RememberingJournal remembering;
  SessionJournal journal{remembering, SessionId("sess_1_aaaaaa"), RunId{SessionId("sess_1_aaaaaa"), 1},
                         [](const Event&) {}};
  Session session;
  NobodyAnswers asker;
  StopToken stop;
};

}  // namespace deputy
