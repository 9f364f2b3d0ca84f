// Every tool that can be made without a tree, for those that read a model's arguments: the first byte of an
// input chooses one. New ones come at the end, or inputs mean another.
#pragma once

#include <memory>
#include <vector>

#include "async/sim_loop.h"
#include "delegation/ask_tool.h"
#include "net/sim_network.h"
#include "tools/bash.h"
#include "tools/catalog.h"
#include "tools/task_tools.h"
#include "tools/todo.h"
#include "tools/web_fetch.h"
#include "tools/web_search.h"

namespace deputy {

inline std::vector<std::shared_ptr<Tool>> every_tool() {
  static SimLoop loop{1};
  static SimNetwork network{loop};
  static BackgroundCommands background{loop};
  auto tools = builtin_tools();
  tools.push_back(std::make_shared<BashTool>(background));
  tools.push_back(std::make_shared<WebFetchTool>(network));
  tools.push_back(std::make_shared<WebSearchTool>(network, SearchSettings{}));
  tools.push_back(std::make_shared<TodoTool>());
  tools.push_back(std::make_shared<TaskStatusTool>(std::vector<BackgroundWork*>{}));
  tools.push_back(std::make_shared<TaskCancelTool>(std::vector<BackgroundWork*>{}));
  tools.push_back(std::make_shared<TaskMessageTool>(std::vector<BackgroundWork*>{}));
  tools.push_back(std::make_shared<AskUserTool>(AskUserTool::Name::ask_parent));
  return tools;
}

}  // namespace deputy
