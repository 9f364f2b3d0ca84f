// For tests of tools on a real disk and in a real sandbox: the folder `ws` is the workspace, and call() runs
// one call through the whole pipeline, rules and all. Nobody is there to be asked.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/paths.h"
#include "support/temp_folder.h"
#include "tools/tool_bench.h"

namespace deputy {

class RealBench : public testing::Test {
 protected:
  RealBench() {
    session.id = SessionId("sess_1_aaaaaa");
    session.workspace = workspace->path();
    session.workspace_mode = WorkspaceMode::shared;
  }

  ToolContext context() {
    return {.id = {},
            .session = session,
            .journal = journal,
            .workspace = *workspace,
            .loop = loop,
            .pool = pool,
            .processes = processes,
            .asker = asker,
            .stop = {},
            .files_seen = &files_seen,
            .keep = keep};
  }
  ToolResult call(std::vector<std::shared_ptr<Tool>> tools, std::string_view name,
                  const json::object& arguments, std::vector<Rule> rules) {
    Rules in_force(std::move(rules));
    session.permissions = in_force.to_json();
    const Toolbox box = Toolbox(std::move(tools), std::move(in_force));
    result.reset();
    const PendingCall pending{.index = 0, .call = {"c", std::string(name), to_json_text(arguments)}};
    EXPECT_TRUE(run(loop, box.run({pending}, context())));
    return result.value_or(tool_error("no result"));
  }

  TempFolder temp;
  std::unique_ptr<Folder> workspace = SystemDisk().open(temp.file("ws"), IfAbsent::create).value();
  SystemLoop loop;
  ThreadPool pool{1};
  SystemProcesses processes{loop, bin_dir() + "/deputy-init"};
  Session session;
  NobodyAnswers asker;
  FilesSeen files_seen;
  decltype(ToolContext::keep) keep;

 private:
  void on(const Event& event) {
    if (const auto* touched = std::get_if<FileTouched>(&event.fact))
      files_seen.insert_or_assign(touched->file.path, touched->file.after);
    if (const auto* finished = std::get_if<CallFinished>(&event.fact)) result = finished->result;
  }

  std::optional<ToolResult> result;
  RememberingJournal remembering;
  SessionJournal journal{remembering, SessionId("sess_1_aaaaaa"), RunId{},
                         [this](const Event& event) { on(event); }};
};

}  // namespace deputy
